// Serves the page in a folder on a free port of the loopback interface.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

// Resolves to { address, close }. Each answer has these headers.
export async function serve(folder, headers = {}) {
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const path = normalize(pathname === "/" ? "/index.html" : pathname);
        const file = join(folder, path);
        const isThere = await stat(file).then((it) => it.isFile(), () => false);
        if (!isThere) {
            response.writeHead(404).end();
            return;
        }
        response.writeHead(200, { ...headers, "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
        createReadStream(file).pipe(response);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
