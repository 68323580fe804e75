//! The events, and their effects.

use congestion::{Controller, Time};
use path::Ecn;
use transport::app::App;
use transport::burst::Burst;
use transport::segment::{Body, Segment};

use super::{MAX_CONNECTIONS, Simulation};
use crate::index::{FlowIndex, HostIndex, LinkIndex, Slot};
use crate::network::{Out, Packet};
use crate::observer::{End, Observer};

impl<O: Observer<C>, C: Controller> Simulation<O, C> {
    /// Handles the packets that leave a link.
    pub(super) fn on_link(&mut self, link: LinkIndex) {
        loop {
            let out = self.network.receive(self.now, link);
            self.show_passed();
            self.look_ahead(link);
            match out {
                None => {}
                Some(Out::Arrived(packet, is_marked)) => self.on_packet(&packet, is_marked),
                Some(Out::Departed(host)) => {
                    if let Some(burst) = self.hosts[host].on_packet_out() {
                        self.on_departed(&burst);
                        self.release(host);
                    }
                }
            }
            // Copies of packets may be without number at one time.
            if !self.network.has_more(self.now, link) || self.is_excessive() {
                return;
            }
        }
    }

    /// Notifies the observer of the packets that have passed taps. Packets of connections that are over are left out.
    #[inline]
    fn show_passed(&mut self) {
        if !O::WATCHES_SEGMENTS {
            return;
        }
        for passed in self.network.taps.passed.drain(..) {
            let Packet {
                segment, serial, ..
            } = &passed.packet;
            let slot = Slot(segment.connection);
            if let Some(connection) = self.connections.of_packet(slot, *serial) {
                let end = End::that_receives(&segment.body);
                let passing = connection.passing(end, segment, passed.ecn);
                self.observer.on_crossing(self.now, passed.tap, &passing);
            }
        }
    }

    /// Prefetches the connections of the next packet from a link and of the next from any link. Handling the present
    /// packet takes about as long as the fetch.
    #[inline]
    fn look_ahead(&mut self, link: LinkIndex) {
        if !self.connections.are_far() {
            return;
        }
        let first = self.network.first().filter(|first| *first != link);
        for link in [Some(link), first].into_iter().flatten() {
            if let Some(slot) = self.network.upcoming(link) {
                self.connections.prefetch(slot);
            }
        }
    }

    /// Handles a packet at the end of its way.
    fn on_packet(&mut self, packet: &Packet, is_marked: bool) {
        let slot = Slot(packet.segment.connection);
        let Some(connection) = self.connections.of_packet(slot, packet.serial) else {
            return;
        };
        let end = End::that_receives(&packet.segment.body);
        let sent = match &packet.segment.body {
            Body::Data(_) => connection.ecn,
            _ => Ecn::NotCapable,
        };
        let ecn = if is_marked { Ecn::Marked } else { sent };
        connection.show_segment(&mut self.observer, self.now, end, &packet.segment, ecn);
        match &packet.segment.body {
            body @ (Body::Syn { .. } | Body::FastOpen(_) | Body::Data(_)) => {
                let before = connection.receiver.received();
                let reply = connection.receiver.on_segment(self.now, body, is_marked);
                let received = connection.receiver.received();
                self.reply(slot, reply);
                if !matches!(body, Body::Data(_)) {
                    self.on_opened(slot, received > before);
                }
                if received > before {
                    self.on_received(slot, received);
                }
            }
            body @ (Body::SynAck { .. } | Body::Ack(_)) => {
                let before = connection.stats_before::<O>();
                let ack = connection.sender.on_segment(self.now, body);
                if matches!(body, Body::SynAck { .. }) {
                    self.flows[FlowIndex::from(connection.id.flow)].on_answer();
                }
                if let Some(ack) = &ack
                    && connection.is_reported()
                {
                    self.observer
                        .on_ack(self.now, connection.id, ack, &connection.sender);
                }
                if let Some(before) = &before {
                    connection.notify(&mut self.observer, self.now, before);
                }
                self.drive(slot);
            }
        }
    }

    /// Handles a SYN. If it opens a connection for requests, the connection for the data may have waited for that. It
    /// then sends at once if the SYN `has_data`, else after a round trip, like a server that waits for the end of the
    /// handshake.
    fn on_opened(&mut self, slot: Slot, has_data: bool) {
        let now = self.now;
        if self.connections[slot].app.is_some() {
            return;
        }
        let Some(data) = self.data_of(slot) else {
            return;
        };
        let connection = &mut self.connections[data];
        if has_data {
            let window = connection.receiver.accept(now);
            connection.sender.accept(window);
        } else {
            connection.sender.open(now);
            self.drive(data);
        }
    }

    /// Sends a segment from the receiving end of a connection, if any, and sets its timer.
    fn reply(&mut self, slot: Slot, segment: Option<Segment>) {
        if let Some(segment) = &segment {
            let connection = &self.connections[slot];
            connection.show_segment(
                &mut self.observer,
                self.now,
                End::Receiving,
                segment,
                Ecn::NotCapable,
            );
            let way = connection.backward;
            let serial = connection.id.connection;
            self.network.send(
                self.now,
                way,
                serial,
                Ecn::NotCapable,
                std::iter::once(*segment),
            );
            self.show_passed();
        }
        let due = self.next_timer(slot, End::Receiving);
        // An acknowledgement that was pending and has been sent leaves a timer behind, which fires without effect.
        // Moving the timer at every segment costs more, unless the connection has to be fetched from memory anyway.
        if self.connections.are_far() {
            self.timers.set(End::Receiving.timer(slot), due);
        } else {
            self.bring_forward(End::Receiving.timer(slot), due);
        }
    }

    /// Lets the sending end of a connection send, after any event that may allow it.
    fn drive(&mut self, slot: Slot) {
        let host = self.connections[slot].host;
        if self.offer(slot) {
            self.release(host);
        }
        self.arm(slot, End::Sending);
        self.end_if_done(slot);
    }

    /// Hands a connection's bursts to its host's scheduler; returns whether there were any.
    fn offer(&mut self, slot: Slot) -> bool {
        let connection = &mut self.connections[slot];
        let host = &mut self.hosts[connection.host];
        connection.write();
        let mut has_sent = false;
        while let Some(burst) = connection.sender.poll_burst(self.now) {
            has_sent = true;
            if connection.is_reported() {
                self.observer
                    .on_sent(self.now, connection.id, &burst, &connection.sender);
            }
            match host.scheduler.enqueue(self.now, burst) {
                Ok(()) => connection.queued += 1,
                Err(refused) => {
                    connection.sender.on_departed(&refused);
                }
            }
        }
        has_sent
    }

    /// Releases the bursts of a host that may leave now.
    pub(super) fn release(&mut self, host: HostIndex) {
        while let Some(burst) = self.hosts[host].release(self.now) {
            let connection = &self.connections[Slot(burst.connection)];
            let (way, serial) = (connection.forward, connection.id.connection);
            let ecn = connection.ecn_of(&burst);
            if O::WATCHES_SEGMENTS {
                for segment in burst.segments() {
                    connection.show_segment(
                        &mut self.observer,
                        self.now,
                        End::Sending,
                        &segment,
                        ecn,
                    );
                }
            }
            self.network
                .send(self.now, way, serial, ecn, burst.segments());
            self.show_passed();
            if self.hosts[host].is_immediate() {
                self.on_departed(&burst);
            }
        }
        let next = self.hosts[host].next_release();
        self.releases.set(host.into(), next);
    }

    /// Handles the departure of a burst, which may let its connection hand over another.
    fn on_departed(&mut self, burst: &Burst) {
        let slot = Slot(burst.connection);
        let connection = &mut self.connections[slot];
        connection.queued -= 1;
        if connection.is_reported() {
            self.observer.on_departed(self.now, connection.id, burst);
        }
        let has_waited = connection.sender.on_departed(burst);
        let is_last = connection.queued == 0;
        if has_waited {
            self.offer(slot);
            self.arm(slot, End::Sending);
        }
        if is_last {
            self.end_if_done(slot);
        }
    }

    /// Handles the first `received` bytes in order at the receiving end of a connection.
    fn on_received(&mut self, slot: Slot, received: u64) {
        let connection = &mut self.connections[slot];
        if let Some(app) = &mut connection.app {
            let id = connection.id;
            self.observer.on_received(self.now, id, received);
            app.on_data_delivered(self.now, received, |transfer| {
                self.observer.on_transfer(id, &transfer);
            });
            if let Some(due) = app.next_timer() {
                self.bring_forward(End::Sending.timer(slot), due);
            }
            self.ask(slot);
        } else if let Some(data) = self.data_of(slot) {
            if let Some(app) = &mut self.connections[data].app {
                app.on_requests_delivered(received);
            }
            self.drive(data);
        }
    }

    /// Writes the requests of a connection's application, if it has any.
    fn ask(&mut self, slot: Slot) {
        let Some((requests, waiting, is_last)) = self.connections[slot].ask() else {
            return;
        };
        let sender = &mut self.connections[requests].sender;
        let written = sender.write(waiting);
        if is_last {
            sender.finish();
        }
        if let Some(app) = &mut self.connections[slot].app {
            app.on_requests_written(written);
        }
        self.drive(requests);
    }

    /// The time of the next change of receive buffers; [`Time::MAX`] for never.
    #[inline]
    pub(super) fn next_buffer_change(&self) -> Time {
        let next = self.buffer_changes.last();
        next.map_or(Time::MAX, |(_, change)| change.at)
    }

    /// Makes the changes of receive buffers that are due.
    pub(super) fn change_buffers(&mut self) {
        while self.next_buffer_change() <= self.now
            && let Some((flow, change)) = self.buffer_changes.pop()
        {
            self.flows[flow].max_buffer = change.max_buffer;
        }
        for connection in self.connections.iter_mut() {
            let flow = &self.flows[FlowIndex::from(connection.id.flow)];
            connection.receiver.set_max_buffer(flow.max_buffer);
        }
    }

    /// Starts a flow, or handles arrived objects that have connections of their own.
    pub(super) fn on_start(&mut self, index: FlowIndex) {
        let flow = &self.flows[index];
        if !flow.opens_for_each() {
            let app = flow.app(self.now);
            self.starts.set(index.into(), Time::MAX);
            return self.connect(index, app);
        }
        while let Some(arrival) = self.flows[index].poll_connection(self.now) {
            if self.connections.live() < MAX_CONNECTIONS {
                self.connect(index, App::of_arrival(&arrival));
            } else {
                self.refused += 1;
            }
        }
        let next = self.flows[index].next_connection();
        self.starts.set(index.into(), next);
    }

    /// Opens a connection for an application, and one for its requests.
    fn connect(&mut self, index: FlowIndex, app: App) {
        let flow = &self.flows[index];
        let now = self.now;
        let mut open = |app| {
            let serial = self.next_serial;
            self.next_serial = serial.wrapping_add(1);
            self.connections
                .insert(|slot| flow.connect(now, slot, serial, app))
        };
        let data = open(Some(app));
        let requests = flow.has_requests().then(|| open(None));
        self.timers.grow(self.connections.slots() * 2);
        let connection = &mut self.connections[data];
        connection.peer = requests;
        self.observer.on_start(now, connection.id);
        if let Some(requests) = requests {
            self.connections[requests].peer = Some(data);
        }
        self.ask(data);
        self.drive(data);
        if let Some(requests) = requests {
            self.drive(requests);
        }
    }

    /// Removes a connection if it is over.
    fn end_if_done(&mut self, slot: Slot) {
        if self.connections.get(slot).is_none_or(|it| !it.is_done()) {
            return;
        }
        if let Some(over) = self.connections.remove(slot) {
            for end in [End::Sending, End::Receiving] {
                self.timers.set(end.timer(slot), Time::MAX);
            }
            if let Some(app) = &over.app {
                self.observer.on_app_end(over.id, app);
            }
            if over.is_reported() {
                self.observer
                    .on_end(self.now, over.id, &over.sender, &over.receiver);
            }
        }
    }

    /// If a connection could not be opened, ends both the connection for data and that for its requests: for the
    /// application they are one.
    fn fail_together(&mut self, slot: Slot) {
        let connection = &self.connections[slot];
        let peer = match connection.app {
            _ if !connection.sender.has_failed() => None,
            Some(_) => connection.peer,
            None => self.data_of(slot),
        };
        if let Some(peer) = peer {
            for one in [slot, peer] {
                self.connections[one].peer = None;
                self.connections[one].sender.give_up();
            }
            self.end_if_done(peer);
        }
    }

    /// The connection for the data that a connection for requests belongs to, if it is live: it was opened just before.
    fn data_of(&mut self, requests: Slot) -> Option<Slot> {
        let connection = &self.connections[requests];
        let (data, serial) = (connection.peer?, connection.id.connection.wrapping_sub(1));
        self.connections.of_packet(data, serial).map(|_| data)
    }

    /// Moves the timer of an end forward to the end's next timer; never postpones it.
    fn arm(&mut self, slot: Slot, end: End) {
        let due = self.next_timer(slot, end);
        self.bring_forward(end.timer(slot), due);
    }

    fn bring_forward(&mut self, timer: usize, due: Time) {
        if due < self.timers.get(timer) {
            self.timers.set(timer, due);
        }
    }

    /// Handles a timer, which may fire too early; then it is set again.
    pub(super) fn on_timer(&mut self, timer: usize) {
        let (slot, end) = End::of_timer(timer);
        if self.next_timer(slot, end) <= self.now {
            self.on_due(slot, end);
        }
        let due = self.next_timer(slot, end);
        debug_assert!(due > self.now, "a timer that does nothing");
        self.timers.set(timer, due);
        if let Some(next) = self.timers.first().filter(|_| self.connections.are_far()) {
            self.connections.prefetch(End::of_timer(next).0);
        }
    }

    fn next_timer(&self, slot: Slot, end: End) -> Time {
        let connection = self.connections.get(slot);
        connection.map_or(Time::MAX, |connection| connection.next_timer(end))
    }

    /// Handles the timers of an end that are due.
    fn on_due(&mut self, slot: Slot, end: End) {
        let connection = &mut self.connections[slot];
        match end {
            End::Sending => {
                let before = connection.stats_before::<O>();
                connection.sender.on_timer(self.now);
                if let Some(app) = &mut connection.app {
                    app.on_timer(self.now);
                }
                if let Some(before) = &before {
                    connection.notify(&mut self.observer, self.now, before);
                }
                self.fail_together(slot);
                self.ask(slot);
                self.drive(slot);
            }
            End::Receiving => {
                let reply = connection.receiver.on_timer(self.now);
                self.reply(slot, reply);
            }
        }
    }
}
