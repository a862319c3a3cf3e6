//! Responses that are not what HTTP allows, written to the socket as they are.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use hyper::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{Delivery, SiteResponse};

const GARBAGE: &[u8] =
    b"\x16\x03\x01\x02\x00 SSH-2.0-not_http\xff\xfe\x00\r\n\x80\x81 tea and biscuits\r\n\r\n";
const PADDING: &[u8] = &[b'x'; 64 * 1024];

/// Sends what the delivery makes of the response, and closes. A client that hangs up ends it.
pub(super) async fn deliver(mut stream: TcpStream, response: &SiteResponse) {
    let _ = try_deliver(&mut stream, response).await;
}

async fn try_deliver(stream: &mut TcpStream, response: &SiteResponse) -> io::Result<()> {
    let body = response.body.as_slice();
    let (length, half) = (body.len() as u64, body.len() / 2);
    match response.delivery {
        Delivery::Plain | Delivery::Late(_) => {
            stream.write_all(&head(response, length)).await?;
            stream.write_all(body).await?;
        }
        Delivery::Drip(pause) => {
            stream.write_all(&head(response, length)).await?;
            drip(stream, body, pause).await?;
        }
        Delivery::Truncated => {
            stream.write_all(&head(response, length)).await?;
            stream.write_all(&body[..half]).await?;
        }
        Delivery::Surplus => {
            stream.write_all(&head(response, half as u64)).await?;
            stream.write_all(body).await?;
        }
        Delivery::Padded(more) => {
            stream.write_all(&head(response, length + more)).await?;
            stream.write_all(body).await?;
            pad(stream, more).await?;
        }
        Delivery::Garbage => stream.write_all(GARBAGE).await?,
        Delivery::Never => while stream.read(&mut [0; 1024]).await? > 0 {},
        // Closing without lingering is what sends a reset.
        Delivery::Reset => return stream.set_zero_linger(),
    }
    stream.shutdown().await
}

async fn drip(stream: &mut TcpStream, body: &[u8], pause: Duration) -> io::Result<()> {
    for byte in body {
        stream.write_u8(*byte).await?;
        stream.flush().await?;
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

async fn pad(stream: &mut TcpStream, mut more: u64) -> io::Result<()> {
    while more > 0 {
        let step = more.min(PADDING.len() as u64);
        stream.write_all(&PADDING[..step as usize]).await?;
        more -= step;
    }
    Ok(())
}

fn head(response: &SiteResponse, length: u64) -> Vec<u8> {
    let status = StatusCode::from_u16(response.status).ok();
    let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("Unknown");
    let mut head = format!("HTTP/1.1 {} {reason}\r\nconnection: close\r\n", response.status);
    if response.status != 304 {
        let _ = write!(head, "content-length: {length}\r\n");
    }
    for (name, value) in &response.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head += "\r\n";
    head.into_bytes()
}
