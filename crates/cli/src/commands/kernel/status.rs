//! `fullpipe kernel status`.

use std::time::Duration;

use kernel::{Algorithm, Registered, Users};
use program::failure::Failure;
use program::output;
use serde_json::{Map, Value, json};

pub fn run(json: bool) -> Result<(), Failure> {
    let all: Result<Vec<Status>, kernel::Error> =
        Algorithm::ALL.iter().map(|&one| Status::of(one)).collect();
    let all = all.map_err(Failure::failed)?;
    if json {
        return output::json(&all.iter().map(Status::json).collect::<Vec<_>>());
    }
    all.iter()
        .try_for_each(|status| output::result(status.text()))
}

struct Status {
    name: &'static str,
    registered: Option<Registered>,
    /// The kernel still offers it: another process has loaded it for itself, or keeps it where this process cannot see
    /// it.
    is_elsewhere: bool,
    /// The users, also of a controller that was unloaded.
    users: Vec<Users>,
}

impl Status {
    fn of(algorithm: Algorithm) -> Result<Status, kernel::Error> {
        let name = algorithm.kernel_name();
        let registered = Registered::find(algorithm)?;
        let offered = linux::controllers_here()?;
        Ok(Status {
            name,
            is_elsewhere: registered.is_none() && offered.iter().any(|here| here == name),
            registered,
            users: kernel::users(name)?,
        })
    }

    fn text(&self) -> String {
        let mut lines = match &self.registered {
            None if self.is_elsewhere => vec![format!(
                "{}: offered by the kernel, but not kept here: a process has it loaded for as long as it runs, or it was loaded \
                 in another mount namespace",
                self.name
            )],
            None => vec![format!("{}: not loaded", self.name)],
            Some(registered) => {
                let age = Duration::from_secs(registered.age.as_secs_f64() as u64);
                let since = humantime::format_rfc3339_seconds(registered.since());
                let parameters = registered.settings.iter();
                let parameters: Vec<String> = parameters
                    .map(|(name, value)| format!("{name} {value}"))
                    .collect();
                vec![
                    format!(
                        "{}: loaded since {since} ({}), by fullpipe {}",
                        self.name,
                        humantime::format_duration(age),
                        registered.version
                    ),
                    format!("  parameters: {}", parameters.join(", ")),
                ]
            }
        };
        for user in &self.users {
            let default = if user.is_default { ", the default" } else { "" };
            let s = if user.connections == 1 { "" } else { "s" };
            lines.push(format!(
                "  {}: {} connection{s}{default}",
                user.namespace, user.connections
            ));
        }
        lines.join("\n")
    }

    fn json(&self) -> Value {
        let registered = self.registered.as_ref().map(|registered| {
            let parameters = registered.settings.iter();
            let parameters: Map<String, Value> = parameters
                .map(|(name, value)| (name.to_owned(), value.to_string().into()))
                .collect();
            json!({
                "since": humantime::format_rfc3339_seconds(registered.since()).to_string(),
                "age_s": registered.age.as_secs_f64(),
                "version": registered.version,
                "parameters": parameters,
            })
        });
        let users = self.users.iter().map(|user| {
            json!({
                "namespace": user.namespace,
                "connections": user.connections,
                "is_default": user.is_default,
            })
        });
        json!({
            "controller": self.name,
            "loaded": registered,
            "is_elsewhere": self.is_elsewhere,
            "users": users.collect::<Vec<_>>(),
        })
    }
}
