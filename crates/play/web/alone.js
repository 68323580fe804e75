// Takes from a worker what no controller needs: the storage of the page's origin, the network, other pages, and workers of its own, which
// would have it all again. What has no name left cannot be had: a worker has no other realm, and the page's policy refuses texts as code.

const NAMES = [
    "indexedDB", "caches", "cookieStore", "navigator", "BroadcastChannel", "Worker", "SharedWorker", "importScripts",
    "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "RTCPeerConnection",
    "webkitRequestFileSystem", "webkitRequestFileSystemSync", "webkitResolveLocalFileSystemURL", "webkitResolveLocalFileSystemSyncURL",
];

export function standAlone() {
    for (let owner = globalThis; owner !== null; owner = Object.getPrototypeOf(owner)) {
        NAMES.forEach((name) => Reflect.deleteProperty(owner, name));
    }
}
