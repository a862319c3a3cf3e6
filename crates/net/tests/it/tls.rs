//! Certificates are checked, HTTP/2 is spoken where the server can, and encryption is not given up on the way.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dunlin_net::{Client, Downgrade, Error, Fault, Guard, Phase, Request, Settings};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::names::Names;
use crate::origin::{Origin, Seen, Step, Stream, answer, redirect};

/// An authority of our own, and a server's certificate that it signed.
struct Certificates {
    root: CertificateDer<'static>,
    acceptor: TlsAcceptor,
}

impl Certificates {
    fn for_host(host: &str, protocol: &[u8]) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf =
            CertificateParams::new(vec![host.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], private)
            .unwrap();
        server.alpn_protocols = vec![protocol.to_vec()];
        Self { root: authority.der().clone(), acceptor: TlsAcceptor::from(Arc::new(server)) }
    }

    async fn serve(&self, script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Origin {
        let acceptor = self.acceptor.clone();
        Origin::start_over(script, move |stream| {
            let accepting = acceptor.accept(stream);
            Box::pin(async move { Some(Box::new(accepting.await.ok()?) as Stream) })
        })
        .await
    }
}

/// A client that knows `secure.test` and `other.test`, both at 127.0.0.1, and trusts these roots as well.
fn client(extra_roots: Vec<CertificateDer<'static>>, downgrade: Downgrade) -> Client {
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    settings.extra_roots = extra_roots;
    settings.downgrade = downgrade;
    let names = Names::new().with("secure.test", &["127.0.0.1"]).with("other.test", &["127.0.0.1"]);
    Client::with_resolver(settings, Arc::new(names)).unwrap()
}

fn request(host: &str, port: u16, path: &str) -> Request {
    Request::parse(&format!("https://{host}:{port}{path}")).unwrap()
}

#[tokio::test]
async fn an_unknown_issuer_is_refused_and_a_known_one_accepted() {
    let certificates = Certificates::for_host("secure.test", b"http/1.1");
    let origin = certificates.serve(|_| answer("200 OK", &[], b"secret")).await;
    let port = origin.address.port();

    let stranger = client(Vec::new(), Downgrade::Refuse);
    let error = stranger.fetch(request("secure.test", port, "/")).await.unwrap_err();
    assert!(matches!(error, Error::Certificate { .. }), "{error:?}");
    assert_eq!(error.fault(), Fault::Remote);
    assert!(error.to_string().contains("add its issuer to guard.extra_roots"), "{error}");
    assert_eq!(origin.seen().len(), 0, "nothing may be sent to a server that did not prove who it is");

    let friend = client(vec![certificates.root], Downgrade::Refuse);
    let fetched = friend.fetch(request("secure.test", port, "/")).await.unwrap();
    assert_eq!(fetched.body, "secret");
    assert_eq!(origin.seen()[0].header("host").unwrap(), format!("secure.test:{port}"));
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let certificates = Certificates::for_host("other.test", b"http/1.1");
    let origin = certificates.serve(|_| answer("200 OK", &[], b"secret")).await;
    let client = client(vec![certificates.root], Downgrade::Refuse);
    let port = origin.address.port();
    for host in ["secure.test", "127.0.0.1"] {
        let error = client.fetch(request(host, port, "/")).await.unwrap_err();
        assert!(matches!(error, Error::Certificate { .. }), "{host}: {error:?}");
    }
    assert_eq!(client.fetch(request("other.test", port, "/")).await.unwrap().body, "secret");
}

#[tokio::test]
async fn a_server_without_tls_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.writable().await.unwrap();
            let _ = stream.try_write(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            tokio::spawn(async move { stream.readable().await });
        }
    });
    let error =
        client(Vec::new(), Downgrade::Refuse).fetch(request("secure.test", port, "/")).await.unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    settings.timeouts.handshake = std::time::Duration::from_millis(60);
    let client = Client::with_resolver(settings, Arc::new(Names::new())).unwrap();
    let error = client.fetch(request("127.0.0.1", port, "/")).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { phase: Phase::Handshake, .. }), "{error:?}");
}

#[tokio::test]
async fn encryption_is_given_up_only_where_that_was_allowed() {
    let plain = Origin::start(|_| answer("200 OK", &[], b"in the open")).await;
    let target = plain.url_as("other.test", "/");
    let certificates = Certificates::for_host("secure.test", b"http/1.1");
    let origin = certificates.serve(move |_| redirect(&target)).await;
    let port = origin.address.port();

    let strict = client(vec![certificates.root.clone()], Downgrade::Refuse);
    let error = strict.fetch(request("secure.test", port, "/")).await.unwrap_err();
    assert!(matches!(error, Error::Downgrade { .. }), "{error:?}");
    assert_eq!(plain.seen().len(), 0);

    let lenient = client(vec![certificates.root], Downgrade::Follow);
    assert_eq!(lenient.fetch(request("secure.test", port, "/")).await.unwrap().body, "in the open");
}

#[tokio::test]
async fn http_2_is_spoken_over_one_connection() {
    let certificates = Certificates::for_host("secure.test", b"h2");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let n_connections = Arc::new(AtomicUsize::new(0));
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (acceptor, counter, log) = (certificates.acceptor.clone(), n_connections.clone(), heads.clone());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            let (acceptor, log) = (acceptor.clone(), log.clone());
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.unwrap();
                let service = service_fn(move |request: http::Request<Incoming>| {
                    let path = request.uri().path().to_owned();
                    log.lock().unwrap().push((request.version(), request.uri().to_string()));
                    async move { Ok::<_, Infallible>(answer_http_2(&path)) }
                });
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });

    let client = client(vec![certificates.root], Downgrade::Refuse);
    assert_eq!(client.fetch(request("secure.test", port, "/first")).await.unwrap().body, "/first");
    assert_eq!(client.idle_connections(), 1);
    let fetches: Vec<_> = (0..10)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { client.fetch(request("secure.test", port, &format!("/{n}"))).await })
        })
        .collect();
    for (n, fetch) in fetches.into_iter().enumerate() {
        assert_eq!(fetch.await.unwrap().unwrap().body, format!("/{n}"));
    }
    assert_eq!(n_connections.load(Ordering::SeqCst), 1);
    assert_eq!(client.idle_connections(), 1);
    // A redirect on the same connection, and an answer without a body.
    let moved = client.fetch(request("secure.test", port, "/moved")).await.unwrap();
    assert_eq!((&moved.body[..], moved.hops.len()), (&b"/there"[..], 1));
    assert!(client.fetch(request("secure.test", port, "/same")).await.unwrap().is_unchanged());
    let heads = heads.lock().unwrap();
    assert!(heads.iter().all(|(version, _)| *version == http::Version::HTTP_2));
    assert_eq!(heads[0].1, format!("https://secure.test:{port}/first"));
}

fn answer_http_2(path: &str) -> http::Response<String> {
    let answer = match path {
        "/moved" => http::Response::builder().status(308).header("location", "/there").body(String::new()),
        "/same" => http::Response::builder().status(304).body(String::new()),
        _ => http::Response::builder().body(path.to_owned()),
    };
    answer.unwrap()
}
