//! An ordinary HTTP server: nginx with one file, of which clients fetch any part.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use files::{NewFile, Readers};
use linux::Host;
use linux::command::{Command, Init, Running};
use rollout::study::{StudyError, own_directory};
use units::Bytes;

use super::group::Group;
use crate::laboratory::LabError;
use crate::proof::write;
use crate::spec::PORT;

/// The file that clients fetch.
pub(super) const OBJECT: &str = "object";

/// The time that nginx may take until it listens.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts nginx in a host and a control group. It ends with the returned value. The file is as large as the largest
/// object.
pub(super) fn start(
    host: &Host,
    group: &Group,
    init: &Init,
    directory: &Path,
    largest: Bytes,
) -> Result<Running, LabError> {
    let files = directory.join("files");
    own_directory(&files).map_err(StudyError::from)?;
    let object = files.join(OBJECT);
    // A sparse file, which takes no space.
    let failed = |error| LabError::file(&object, error);
    let new = NewFile::create(&object, Readers::Owner).map_err(|error| failed(error.source))?;
    new.file().set_len(largest.get()).map_err(failed)?;
    new.commit().map_err(|error| failed(error.source))?;
    let configuration = directory.join("nginx.conf");
    write(&configuration, &configured(directory, &files))?;
    let log = directory.join("nginx.log");
    let line = [
        "nginx".as_ref(),
        "-e".as_ref(),
        log.as_os_str(),
        "-c".as_ref(),
    ];
    let line = line.into_iter().chain([configuration.as_os_str()]);
    let mut running = Command::new(line)
        .service()
        .spawn(host, &group.entered(init)?)?;
    let begin = Instant::now();
    let listens = || TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).is_ok();
    while !host.inside(listens)? {
        let has_ended = running.wait_for(units::Duration::ZERO)?.is_some();
        if has_ended || begin.elapsed() > LISTEN_TIMEOUT {
            return Err(LabError::Server(log.display().to_string()));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(running)
}

fn configured(directory: &Path, files: &Path) -> String {
    let (at, files) = (directory.display(), files.display());
    format!(
        "daemon off;\nmaster_process off;\npid \"{at}/nginx.pid\";\nerror_log \"{at}/nginx.log\";\n\
         events {{ worker_connections 8192; }}\nhttp {{\n  access_log off;\n  sendfile on;\n  \
         client_body_temp_path \"{at}/body\";\n  proxy_temp_path \"{at}/proxy\";\n  fastcgi_temp_path \"{at}/fast\";\n  \
         uwsgi_temp_path \"{at}/uwsgi\";\n  scgi_temp_path \"{at}/scgi\";\n  \
         server {{ listen {PORT}; root \"{files}\"; }}\n}}\n"
    )
}
