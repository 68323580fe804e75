// A controller with an error, for the test.
export default class Fails {
    on_ack(ack) {
        return [ack.window.size, 1e6];
    }
}
