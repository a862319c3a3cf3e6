//! Faults by request: `POST /_fault?source=ID&fault=NAME[:ARG][&for=SECONDS]`, with `fault=none` to end one.

use std::time::Duration;

use dunlin_core::Time;

use super::{Site, SiteResponse};
use crate::address::Address;
use crate::{Error, Fault};

const SECONDS_LIMIT: f64 = 366.0 * 86_400.0;

impl Site {
    /// Does what the control request says, and reports the faults that are active afterwards.
    pub fn control(&mut self, target: &str, now: Time) -> SiteResponse {
        let address = Address::parse(target);
        if address.path != "/_fault" {
            return SiteResponse::text(404, "no such control; there is /_fault?source=ID&fault=NAME\n");
        }
        match self.try_control(&address, now) {
            Ok(said) => SiteResponse::text(200, said),
            Err(error @ Error::UnknownSource { .. }) => SiteResponse::text(404, format!("{error}\n")),
            Err(error) => SiteResponse::text(400, format!("{error}\n")),
        }
    }

    fn try_control(&mut self, address: &Address<'_>, now: Time) -> Result<String, Error> {
        let missing = |setting| Error::BadSetting {
            setting,
            value: "missing".to_owned(),
            expected: "/_fault?source=ID&fault=NAME[:ARG][&for=SECONDS]".to_owned(),
        };
        let source = address.parameter("source").ok_or_else(|| missing("source"))?;
        let name = address.parameter("fault").ok_or_else(|| missing("fault"))?;
        let seconds = address.parameter("for").map(|text| seconds(&text)).transpose()?;
        let until = seconds.map(|seconds| now.plus(Duration::from_secs_f64(seconds)));
        if name == "none" {
            self.set_fault(&source, None, None)?;
            return Ok(format!("{source} behaves\n"));
        }
        let fault: Fault = name.parse()?;
        let said = match seconds {
            Some(seconds) => format!("{source}: {fault} for {seconds} seconds\n"),
            None => format!("{source}: {fault} until told otherwise\n"),
        };
        self.set_fault(&source, Some(fault), until)?;
        Ok(said)
    }
}

fn seconds(text: &str) -> Result<f64, Error> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_LIMIT).contains(seconds));
    seconds.ok_or_else(|| Error::BadSetting {
        setting: "for",
        value: text.to_owned(),
        expected: "seconds, at most a year".to_owned(),
    })
}
