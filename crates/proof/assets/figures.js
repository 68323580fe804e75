"use strict";
// Looking closely at a picture: the part of it that is shown is its viewBox.
const CLOSEST = 40;

for (const figure of document.querySelectorAll("figure")) {
  const picture = figure.querySelector(".picture");
  // The form for wide screens, and that for narrow ones: one of them is shown.
  const forms = [...picture.querySelectorAll("svg")];
  const button = figure.querySelector(".whole");
  const sizes = new Map(forms.map((form) => [form, form.getAttribute("viewBox").split(" ").slice(2).map(Number)]));
  const shown = () => forms.find((form) => form.getBoundingClientRect().width > 0) ?? forms[0];
  let [x, y, scale] = [0, 0, 1];

  const show = () => {
    const svg = shown();
    const [width, height] = sizes.get(svg);
    const within = (at, length) => Math.max(0, Math.min(at, length - length / scale));
    [x, y] = [within(x, width), within(y, height)];
    svg.setAttribute("viewBox", `${x} ${y} ${width / scale} ${height / scale}`);
    picture.classList.toggle("close", scale > 1);
    button.hidden = scale === 1;
  };
  // Pixels of the screen as units of the picture.
  const units = () => sizes.get(shown())[0] / scale / shown().getBoundingClientRect().width;
  // Closer by a factor, with the same point under these pixels of the screen.
  const closer = (factor, clientX, clientY) => {
    const box = shown().getBoundingClientRect();
    const [width, height] = sizes.get(shown());
    const [across, down] = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
    const next = Math.max(1, Math.min(CLOSEST, scale * factor));
    x += across * width * (1 / scale - 1 / next);
    y += down * height * (1 / scale - 1 / next);
    scale = next;
    show();
  };
  const middle = (factor) => {
    const box = shown().getBoundingClientRect();
    closer(factor, box.left + box.width / 2, box.top + box.height / 2);
  };
  const whole = () => {
    [x, y, scale] = [0, 0, 1];
    show();
  };

  picture.addEventListener("wheel", (event) => {
    // Who only passes by moves the page.
    if (document.activeElement !== picture && !event.ctrlKey) return;
    event.preventDefault();
    closer(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  }, { passive: false });
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    picture.focus();
    if (scale === 1) return;
    picture.setPointerCapture(event.pointerId);
    const move = (moved) => {
      x -= moved.movementX * units();
      y -= moved.movementY * units();
      show();
    };
    picture.addEventListener("pointermove", move);
    const end = () => picture.removeEventListener("pointermove", move);
    picture.addEventListener("pointerup", end, { once: true });
    picture.addEventListener("pointercancel", end, { once: true });
  });
  picture.addEventListener("dblclick", whole);
  button.addEventListener("click", whole);
  picture.addEventListener("keydown", (event) => {
    const step = 40 * units();
    const keys = {
      "+": () => middle(1.5), "=": () => middle(1.5), "-": () => middle(1 / 1.5), "0": whole,
      ArrowLeft: () => { x -= step; show(); }, ArrowRight: () => { x += step; show(); },
      ArrowUp: () => { y -= step; show(); }, ArrowDown: () => { y += step; show(); },
    };
    const act = keys[event.key];
    if (!act || (scale === 1 && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    act();
  });
}

paintWith(() => {});
