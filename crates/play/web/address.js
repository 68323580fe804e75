// A script as a `data:` address: a frame of another origin may read it, and the path of the page, in which `fullpipe play` has its
// secret, is not in it, so that no stack has it.
export function addressOf(...parts) {
    return new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result);
        reader.readAsDataURL(new Blob(parts, { type: "text/javascript" }));
    });
}
