// Ten steps through the argument of the BBR paper: each is a scenario with two sentences. A step may change the preset's text.

import { button, element } from "./dom.js";
import { preset } from "./presets.js";

const changed = (name, ...pairs) => pairs.reduce((text, [from, to]) => text.replaceAll(from, to), preset(name).text);

export const steps = [
    {
        title: "One path, two limits",
        text: preset("figure-1").text,
        say: "Sixty flows of four packets arrive one by one. Below the bandwidth-delay product (BDP) more inflight brings more rate at the same RTT; above it, only a longer RTT.",
    },
    {
        title: "Loss-based control ends at the wrong place",
        text: changed("figure-5", ['controller = "bbr1"\nbbr1 = "linux-4.19"', 'controller = "cubic"']),
        say: "CUBIC grows until packets are lost, which is where the buffer is full. The rate was reached long before: everything beyond is waiting time.",
    },
    {
        title: "Deep buffers make it worse",
        text: preset("bufferbloat").text,
        say: "With a buffer of sixteen round trips the queue is half a second, and whoever browses beside the download waits for it. Try BBR for the first flow.",
    },
    {
        title: "Random loss is no congestion",
        text: changed("figure-8", ['controller = "bbr1"\nbbr1 = "linux-4.19"', 'controller = "cubic"']),
        say: "One percent of the packets is lost in the air, and CUBIC takes each for a full buffer: of 100 Mbit/s it uses two. Loss tells neither the bandwidth nor the delay.",
    },
    {
        title: "Measure the two limits instead",
        text: preset("figure-2").text,
        say: "BBR keeps two estimates: the highest delivery rate of the last ten round trips, and the lowest RTT of the last ten seconds. At that rate, and with one BDP in flight, it is at the optimum of the first step.",
    },
    {
        title: "Find the bandwidth fast",
        text: preset("figure-4").text,
        say: "Startup doubles the rate in every round trip until the delivery rate stops growing. Drain then sends less for as long as it takes to empty the queue.",
    },
    {
        title: "Keep looking for more",
        text: preset("figure-3").text,
        say: "The two limits cannot be seen at once. So in one of eight round trips, BBR sends at 1.25 times its estimate of the bandwidth: when the rate of the path doubles, a few such probes find it.",
    },
    {
        title: "Keep looking for less delay",
        text: preset("figure-6").text,
        say: "Every ten seconds without a lower RTT, ProbeRTT keeps four packets in flight for 200 ms. Flows that share a queue do so together, see the path empty, and come to equal shares.",
    },
    {
        title: "Loss does not stop it",
        text: preset("figure-8").text,
        say: "The path of step four with BBR: the same loss hardly costs anything. Raise it, and find where the argument ends: a probe sends 1.25 times the estimate, and with a loss of a fifth it delivers no more than the estimate.",
    },
    {
        title: "And the neighbours?",
        text: preset("shallow").text,
        say: "Where buffers are shallow, BBRv1 leaves CUBIC little, as it does not answer loss. BBRv3 does: choose it for the first flow, and judge for yourself.",
    },
];

// The tour as a card. `show` is called with the text of a step.
export class Tour {
    #root;
    #show;
    #at = 0;

    constructor(root, show) {
        this.#root = root;
        this.#show = show;
    }

    open(at = 0) {
        this.#at = Math.max(0, Math.min(steps.length - 1, at));
        const { title, text, say } = steps[this.#at];
        const heading = element("h2", { tabIndex: -1 }, `${this.#at + 1} of ${steps.length}: ${title}`);
        const back = button("Back", () => this.open(this.#at - 1));
        const next = button(this.#at + 1 < steps.length ? "Next" : "End", () => (this.#at + 1 < steps.length ? this.open(this.#at + 1) : this.close()));
        const close = button("Close", () => this.close());
        back.disabled = this.#at === 0;
        this.#root.hidden = false;
        this.#root.replaceChildren(heading, element("p", {}, say), element("div", { className: "row" }, back, next, close));
        heading.focus({ preventScroll: true });
        this.#show(text);
    }

    close() {
        this.#root.hidden = true;
        this.#root.replaceChildren();
    }
}
