// The line of a syntax error. What imports a module learns no line, but a worker that begins with it tells its page.

const PATIENCE_MS = 2000;

// Resolves to the line from 1; to null if the source has no syntax error, or the browser does not say.
export function syntaxLine(source) {
    return new Promise((resolve) => {
        const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        const worker = new Worker(address, { type: "module" });
        const end = (line) => {
            worker.terminate();
            URL.revokeObjectURL(address);
            resolve(line);
        };
        setTimeout(() => end(null), PATIENCE_MS);
        worker.onerror = (event) => {
            event.preventDefault();
            end(event.lineno || null);
        };
    });
}
