//! What a network path does to a packet: rate, delay, buffer, loss and the rest, as pure code
