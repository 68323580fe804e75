//! A network path under real packets, in real time
