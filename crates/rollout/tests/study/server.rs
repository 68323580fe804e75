//! An ordinary HTTP server in a control group.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process::wait_for;

/// The server's port, in a network of the test's own.
pub const PORT: u16 = 8000;

/// nginx's access log, in the format of the documentation. Python's server writes none.
pub const LOG: &str = "access.log";

/// The server, which ends when this is dropped.
pub struct Server(Child);

impl Server {
    /// Starts nginx, or Python's server if nginx is missing, on the loopback address. It serves a file `4mb`.
    pub fn start(directory: &Path, group: &Path) -> Server {
        Server::start_at(directory, group, Ipv4Addr::LOCALHOST.into())
    }

    /// Starts the server on another address.
    pub fn start_at(directory: &Path, group: &Path, at: IpAddr) -> Server {
        let files = directory.join("files");
        fs::create_dir_all(&files).expect("a directory");
        fs::write(files.join("4mb"), vec![7; 4_000_000]).expect("a file");
        let is_nginx = Command::new("nginx").arg("-v").output().is_ok();
        let command = if is_nginx {
            let file = directory.join("nginx.conf");
            fs::write(&file, configuration(directory, &files, at)).expect("its configuration");
            format!("nginx -e stderr -c '{}'", file.display())
        } else {
            format!(
                "python3 -m http.server {PORT} --bind {at} --directory '{}'",
                files.display()
            )
        };
        let enter = format!(
            "echo $$ > '{}/cgroup.procs' && exec {command}",
            group.display()
        );
        let child = Command::new("sh")
            .args(["-c", &enter])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let server = Server(child);
        wait_for_server((at, PORT).into());
        server
    }
}

/// Waits until a server listens on this address.
pub fn wait_for_server(address: SocketAddr) {
    wait_for("the server listens", || TcpStream::connect(address));
}

fn configuration(directory: &Path, files: &Path, address: IpAddr) -> String {
    let (at, files) = (directory.display(), files.display());
    format!(
        "daemon off;\nmaster_process off;\npid {at}/nginx.pid;\nerror_log stderr;\nevents {{}}\n\
         http {{\n  \
         log_format study '$remote_addr $remote_port $msec $bytes_sent $request_time';\n  access_log {at}/{LOG} study;\n  client_body_temp_path {at}/body;\n  proxy_temp_path {at}/proxy;\n  fastcgi_temp_path {at}/fast;\n  \
         uwsgi_temp_path {at}/uwsgi;\n  scgi_temp_path {at}/scgi;\n  \
         server {{ listen {address}:{PORT}; root {files}; }}\n}}\n"
    )
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
