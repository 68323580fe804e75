// Whether a figure is in sight, or nearly: what is far from the window is not drawn until it comes near.

export class Sight {
    isNear = true;
    #observer;

    // `changed` is called when the figure comes near or goes away.
    constructor(figure, changed) {
        this.#observer = new IntersectionObserver((entries) => {
            this.isNear = entries.at(-1).isIntersecting;
            changed();
        }, { rootMargin: "100px" });
        this.#observer.observe(figure);
    }

    destroy() {
        this.#observer.disconnect();
    }
}
