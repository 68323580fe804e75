// Workers that serve the page at a port: { port, end }. `script` is the address of a module that exports `serve(port, module)`. `failed` is
// told a message if a worker does not start, if something goes wrong in it, and if it speaks elsewhere than at its port.

import { element } from "./dom.js";

// A sandbox that does not end a worker within this time is ended with all of them.
const ANSWER_MS = 3000;

// A worker is not a module, because Chromium starts none of a Blob for a page from a disk; but it can import one.
const start = (script) => `onmessage = ({ data: module, ports: [port] }) => {
    onmessage = null;
    import(${JSON.stringify(script)}).then(({ serve }) => serve(port, module), reportError);
};`;

// A worker of the page's origin, for the simulator alone. It has the page's Content-Security-Policy, as it is of a Blob.
export function openWorker(script, module, failed) {
    const { port1: port, port2 } = new MessageChannel();
    const worker = new Worker(URL.createObjectURL(new Blob([start(script)], { type: "text/javascript" })));
    worker.onerror = ({ message }) => failed(message);
    worker.postMessage(module, [port2]);
    return { port, end: () => (worker.terminate(), port.close()) };
}

// What the frame of a sandbox does. It compiles the module, since a compiled one does not come in from another origin. It starts workers,
// tells the page of the first thing that one says to it, which may be a controller's, and ends them.
const KEEPER = `addEventListener("message", ({ data: bytes, ports: [door] }) => {
    const compiled = WebAssembly.compile(bytes);
    door.onmessage = async ({ data: start, ports: [port, handle] }) => {
        const worker = new Worker(URL.createObjectURL(new Blob([start], { type: "text/javascript" })));
        const tell = ({ message = "a controller posts no messages" }) => {
            worker.onmessage = worker.onerror = null;
            handle.postMessage(message);
        };
        worker.onmessage = worker.onerror = tell;
        handle.onmessage = () => {
            worker.terminate();
            handle.postMessage("ended");
        };
        compiled.then((module) => worker.postMessage(module, [port]), tell);
    };
}, { once: true });`;

// Of the page's policy, which the frame has as well, only what this needs.
const POLICY = "default-src 'none'; script-src data: 'wasm-unsafe-eval'; worker-src blob:";
const PAGE = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">
    <script src="data:text/javascript,${encodeURIComponent(KEEPER)}"></script>`;

// Workers for controllers, in a frame of an origin of its own. It has no storage and no network, and a worker in it has no way to the page
// but its port.
export class Sandbox {
    #script;
    #bytes;
    #frame = null;
    #door;
    #opened = new Set();

    // `bytes` are those of the module.
    constructor(script, bytes) {
        this.#script = script;
        this.#bytes = bytes;
    }

    // Opens the frame, if it is not open.
    prepare() {
        this.#frame ??= this.#make();
    }

    open(failed) {
        this.prepare();
        const { port1: port, port2: served } = new MessageChannel();
        const { port1: handle, port2: held } = new MessageChannel();
        const frame = this.#frame;
        this.#door.postMessage(start(this.#script), [served, held]);
        this.#opened.add(failed);
        handle.onmessage = ({ data }) => failed(data);
        const end = () => {
            this.#opened.delete(failed);
            port.close();
            const late = setTimeout(() => this.#remove(frame), ANSWER_MS);
            handle.onmessage = () => {
                clearTimeout(late);
                handle.close();
            };
            handle.postMessage("end");
        };
        return { port, end };
    }

    #make() {
        const { port1, port2 } = new MessageChannel();
        const frame = element("iframe", { sandbox: "allow-scripts", srcdoc: PAGE, className: "sandbox", title: "Controllers", inert: true });
        frame.onload = () => frame.contentWindow.postMessage(this.#bytes, "*", [port2]);
        document.body.append(frame);
        this.#door = port1;
        return frame;
    }

    // What runs in a frame ends with it.
    #remove(frame) {
        if (frame !== this.#frame) {
            return;
        }
        frame.remove();
        this.#frame = null;
        const lost = [...this.#opened];
        this.#opened.clear();
        lost.forEach((failed) => failed("the sandbox of controllers did not answer, and was ended"));
    }
}
