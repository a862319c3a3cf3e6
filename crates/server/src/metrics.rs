//! Figures for Prometheus: what the engine did, and what this server answered. Labels are routes, methods and statuses,
//! never anything a client or a site chose.

use std::fmt;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use dunlin_engine::EngineStats;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::accepting::Accepting;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    route: String,
    method: String,
    status: u16,
}

/// What this server has answered.
#[derive(Debug)]
pub(crate) struct ServerMetrics {
    answers: Family<Answer, Counter>,
    seconds: Histogram,
    pub(crate) open_streams: Gauge,
    pub(crate) streamed: Counter,
    /// Connections now open.
    pub(crate) connections: Gauge,
    pub(crate) accepting: Accepting,
}

impl Default for ServerMetrics {
    fn default() -> Self {
        Self {
            answers: Family::default(),
            seconds: Histogram::new([0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]),
            open_streams: Gauge::default(),
            streamed: Counter::default(),
            connections: Gauge::default(),
            accepting: Accepting::default(),
        }
    }
}

impl ServerMetrics {
    pub(crate) fn count(&self, route: Option<&str>, method: &Method, status: StatusCode, took: Duration) {
        let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD];
        let method = known.iter().find(|known| *known == method).map_or("other", Method::as_str);
        let route = route.unwrap_or("none").to_owned();
        let answer = Answer { route, method: method.to_owned(), status: status.as_u16() };
        self.answers.get_or_create(&answer).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Everything as text, with what the engine says about itself.
    pub(crate) fn written(&self, engine: EngineStats) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("dunlin");
        registry.register_collector(Box::new(EngineMetrics(engine)));
        registry.register("http_requests", "Requests answered", self.answers.clone());
        registry.register_with_unit(
            "http_request_duration",
            "From the head of a request to the head of its answer",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register("http_open_streams", "Streams of changes now open", self.open_streams.clone());
        registry.register("http_streamed_changes", "Changes written to streams", self.streamed.clone());
        registry.register(
            "http_connections",
            "Connections open when the last one came",
            self.connections.clone(),
        );
        registry.register(
            "http_accept_failures",
            "Connections that the system did not let us accept",
            self.accepting.failures.clone(),
        );
        let mut written = String::new();
        text::encode(&mut written, &registry)?;
        Ok(written)
    }
}

#[derive(Debug)]
struct EngineMetrics(EngineStats);

impl Collector for EngineMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.0;
        let counters = [
            ("probes", "Probes begun", stats.probes),
            ("probes_changed", "Probes that read something new", stats.changed),
            ("probes_unchanged", "Probes that read nothing new", stats.unchanged),
            ("probes_failed_remote", "Probes that failed by the site's fault", stats.failed_remote),
            ("probes_failed_ours", "Probes that failed by our own fault", stats.failed_ours),
            ("probes_failed_user", "Probes that were refused or cannot work", stats.failed_user),
            ("probes_crashed", "Probes whose reading broke off", stats.crashed),
            ("probes_returned", "Probes put off because the host had to wait", stats.returned),
            ("robots_fetches", "Fetches of robots.txt", stats.robots),
            ("changes", "Changes stored", stats.changes),
            ("versions", "Versions stored", stats.versions),
            ("received_bytes", "Bytes of bodies received", stats.bytes),
            ("store_failures", "Attempts to write that the store refused", stats.store_failures),
            ("lost_captures", "Captures that could not be stored", stats.lost_captures),
            ("ceis_captured", "Needs that span sources of which enough was captured", stats.ceis_captured),
            ("ceis_lost", "Needs that span sources that can no longer be met", stats.ceis_lost),
        ];
        for (name, help, value) in counters {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)?;
        }
        let gauges = [
            ("sources", "Sources known", stats.sources),
            ("sources_watched", "Sources neither paused nor unusable", stats.watched),
            ("sources_attention", "Sources watched that are not what they should be", stats.attention),
            ("hosts", "Hosts known", stats.hosts),
            ("probes_in_flight", "Probes in flight", stats.in_flight),
            ("ceis_open", "Needs that span sources, neither captured nor lost", stats.ceis_open),
            ("queries", "Continuous queries that are installed", stats.queries),
            ("journal_waiting", "Decisions not yet written", stats.journal_waiting),
            ("abandoned_readings", "Readings given up that still run", stats.abandoned_readings),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}
