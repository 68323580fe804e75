//! The data that are sent, and when: applications at both ends of a connection.
//!
//! An [`App`] is both ends of an application in one state machine. Segments carry lengths and no contents, so the
//! contents of a request pass inside it. They pass no sooner than the network allows: a request takes effect when its
//! last byte has been delivered ([`App::on_requests_delivered`]), and an object is complete when its last byte has
//! ([`App::on_data_delivered`]). The caller moves bytes between it and the connection:
//!
//! | end | bytes to send | accepted by the send buffer | delivered there in order |
//! | --- | --- | --- | --- |
//! | the data's sender | [`App::data_waiting`] | [`App::on_data_written`] | [`App::on_requests_delivered`] |
//! | the data's receiver | [`App::requests_waiting`] | [`App::on_requests_written`] | [`App::on_data_delivered`] |
//!
//! Each of these calls, and [`App::on_timer`], may change the bytes to send and [`App::next_timer`].

mod config;
mod exchange;
mod objects;
mod poisson;
mod random;
mod rate_limited;
mod requests;
mod sizes;
mod video;

use units::{Bytes, ConfigError, Time};

pub use config::{Config, Connections, Pause, Poisson, RateLimited, Requests, Video};
pub use objects::Transfer;
pub use poisson::Arrival;
pub use sizes::Sizes;
pub use video::Playback;

use objects::Objects;
use poisson::Arrivals;

/// An application. It starts when it is created.
#[derive(Debug, Clone)]
pub struct App(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Bulk,
    Transfer(Objects),
    Requests(Box<requests::Requests>),
    NewConnections(Box<Arrivals>),
    KeptConnection(Box<Arrivals>, Objects),
    RateLimited(rate_limited::RateLimited),
    Video(Box<video::Video>),
}

/// The counters of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Objects begun: requested, or arrived at the sender.
    pub started: u64,
    /// Objects delivered. Objects with connections of their own are counted there.
    pub completed: u64,
    /// Objects that were not begun because too many were pending in the connection.
    pub refused: u64,
    /// Frames skipped because the backlog was full.
    pub skipped: u64,
    /// Frames delivered after their deadline.
    pub late: u64,
    /// The quality of a video's playback.
    pub playback: Playback,
}

impl App {
    /// Creates the application of `config`, starting at `start`. The same seed draws the same sizes and times on any
    /// machine.
    ///
    /// # Errors
    /// The first invalid value of `config`.
    pub fn new(config: &Config, seed: u64, start: Time) -> Result<App, ConfigError> {
        config.validate()?;
        Ok(App(match config {
            Config::Bulk => Kind::Bulk,
            Config::Transfer { bytes } => Kind::Transfer(Objects::single(0, *bytes, start)),
            Config::Requests(requests) => {
                Kind::Requests(Box::new(requests::Requests::new(requests, seed, start)))
            }
            Config::Poisson(poisson) => {
                let arrivals = Box::new(Arrivals::new(poisson, seed, start));
                match poisson.connections {
                    Connections::New => Kind::NewConnections(arrivals),
                    Connections::Kept => Kind::KeptConnection(arrivals, Objects::default()),
                }
            }
            Config::RateLimited(limited) => {
                Kind::RateLimited(rate_limited::RateLimited::new(limited, start))
            }
            Config::Video(video) => Kind::Video(Box::new(video::Video::new(video, start))),
        }))
    }

    /// Creates the application of a connection that is opened for one object of [`App::poll_connection`].
    pub fn of_arrival(arrival: &Arrival) -> App {
        App(Kind::Transfer(Objects::single(
            arrival.id,
            arrival.size,
            arrival.start,
        )))
    }

    /// The time of the next useful call of [`App::on_timer`] or [`App::poll_connection`].
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        match &self.0 {
            Kind::Bulk | Kind::Transfer(_) => None,
            Kind::Requests(requests) => requests.next_timer(),
            Kind::NewConnections(arrivals) | Kind::KeptConnection(arrivals, _) => arrivals.next(),
            Kind::RateLimited(limited) => limited.next_timer(),
            Kind::Video(video) => video.next_timer(),
        }
    }

    /// Handles all timers that are due.
    pub fn on_timer(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Bulk | Kind::Transfer(_) | Kind::NewConnections(_) => {}
            Kind::Requests(requests) => requests.on_timer(now),
            Kind::KeptConnection(arrivals, objects) => {
                while let Some(arrival) = arrivals.take(now) {
                    objects.send(arrival.size, arrival.start);
                }
            }
            Kind::RateLimited(limited) => limited.on_timer(now),
            Kind::Video(video) => video.on_timer(now),
        }
    }

    /// The next object that has arrived by now and needs a connection of its own. Call it until it returns `None`.
    pub fn poll_connection(&mut self, now: Time) -> Option<Arrival> {
        match &mut self.0 {
            Kind::NewConnections(arrivals) => arrivals.take(now),
            _ => None,
        }
    }

    /// Bytes that the data's sender wants to write; [`Bytes::MAX`] for bulk data.
    #[inline]
    pub fn data_waiting(&self) -> Bytes {
        match &self.0 {
            Kind::Bulk => Bytes::MAX,
            _ => self.objects().map_or(Bytes::ZERO, Objects::waiting),
        }
    }

    /// Notes that `bytes` of them were written.
    #[inline]
    pub fn on_data_written(&mut self, bytes: Bytes) {
        if let Some(objects) = self.objects_mut() {
            objects.on_written(bytes);
        }
    }

    /// Notes that the data's receiver has received the first `received` bytes in order. Calls `note` for each
    /// completed object.
    pub fn on_data_delivered(&mut self, now: Time, received: u64, mut note: impl FnMut(Transfer)) {
        while let Some(transfer) = self.complete(now, received) {
            note(transfer);
        }
    }

    #[inline]
    fn complete(&mut self, now: Time, received: u64) -> Option<Transfer> {
        match &mut self.0 {
            Kind::Bulk | Kind::NewConnections(_) => None,
            Kind::Transfer(objects) | Kind::KeptConnection(_, objects) => {
                objects.complete(now, received)
            }
            Kind::Requests(requests) => requests.on_delivered(now, received),
            Kind::RateLimited(limited) => limited.on_delivered(now, received),
            Kind::Video(video) => video.on_delivered(now, received),
        }
    }

    /// Bytes of requests that the data's receiver wants to write.
    pub fn requests_waiting(&self) -> Bytes {
        match &self.0 {
            Kind::Requests(requests) => requests.exchange.waiting(),
            Kind::Video(video) => video.exchange.waiting(),
            _ => Bytes::ZERO,
        }
    }

    /// Notes that `bytes` of them were written.
    pub fn on_requests_written(&mut self, bytes: Bytes) {
        match &mut self.0 {
            Kind::Requests(requests) => requests.exchange.on_written(bytes),
            Kind::Video(video) => video.exchange.on_written(bytes),
            _ => {}
        }
    }

    /// Notes that the data's sender has received the first `received` bytes of requests in order.
    pub fn on_requests_delivered(&mut self, received: u64) {
        match &mut self.0 {
            Kind::Requests(requests) => requests.exchange.on_delivered(received),
            Kind::Video(video) => video.exchange.on_delivered(received),
            _ => {}
        }
    }

    /// Whether the application has written its last byte, so that the sender can be finished.
    #[inline]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Kind::Bulk | Kind::RateLimited(_) => false,
            Kind::Transfer(objects) => objects.is_written(),
            Kind::Requests(requests) => requests.is_finished(),
            Kind::NewConnections(arrivals) => arrivals.next().is_none(),
            Kind::KeptConnection(arrivals, objects) => {
                arrivals.next().is_none() && objects.is_written()
            }
            Kind::Video(video) => video.is_finished(),
        }
    }

    /// The pending objects, with their sizes and start times.
    pub fn under_way(&self) -> impl Iterator<Item = (Bytes, Time)> {
        self.objects().into_iter().flat_map(Objects::under_way)
    }

    /// The counters.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        if let Some(objects) = self.objects() {
            (stats.started, stats.completed, stats.refused) = objects.counts();
        }
        match &self.0 {
            Kind::NewConnections(arrivals) => stats.started = arrivals.arrived(),
            Kind::RateLimited(limited) => {
                stats.skipped = limited.skipped;
                stats.late = limited.late;
            }
            Kind::Video(video) => stats.playback = video.playback,
            _ => {}
        }
        stats
    }

    fn objects(&self) -> Option<&Objects> {
        match &self.0 {
            Kind::Bulk | Kind::NewConnections(_) => None,
            Kind::Transfer(objects) | Kind::KeptConnection(_, objects) => Some(objects),
            Kind::Requests(requests) => Some(&requests.exchange.objects),
            Kind::RateLimited(limited) => Some(&limited.objects),
            Kind::Video(video) => Some(&video.exchange.objects),
        }
    }

    fn objects_mut(&mut self) -> Option<&mut Objects> {
        match &mut self.0 {
            Kind::Bulk | Kind::NewConnections(_) => None,
            Kind::Transfer(objects) | Kind::KeptConnection(_, objects) => Some(objects),
            Kind::Requests(requests) => Some(&mut requests.exchange.objects),
            Kind::RateLimited(limited) => Some(&mut limited.objects),
            Kind::Video(video) => Some(&mut video.exchange.objects),
        }
    }
}
