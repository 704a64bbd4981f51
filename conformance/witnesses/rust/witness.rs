//! The official Rust client (a2a-client-lf), unmodified, against a Lull server.
//!
//! usage: witness URL [JSONRPC|HTTP+JSON]
//! Control methods, which the SDK does not have, are called as plain JSON-RPC beside it.
use a2a::{Message, Part, Role, SendMessageRequest, StreamResponse, SubscribeToTaskRequest};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::{A2AClient, A2AClientFactory, BoxStream, Transport};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const SAID: [&str; 4] = ["begin", "fin", "waiting", "Sure?"];
type Frames = BoxStream<'static, Result<StreamResponse, a2a::A2AError>>;
type Client = A2AClient<Box<dyn Transport>>;

async fn rpc(url: &str, version: &str, method: &str, params: Value) -> Result<Value, String> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = reqwest::Client::new().post(url).header("A2A-Version", version).json(&body);
    let answer: Value = async { request.send().await?.json().await }
        .await
        .map_err(|error: reqwest::Error| error.to_string())?;
    match answer.get("error") {
        Some(error) => Err(error.to_string()),
        None => Ok(answer["result"].clone()),
    }
}

async fn until(url: &str, id: &str, state: &str) -> Result<(), String> {
    for _ in 0..200 {
        let task = rpc(url, "0.3", "tasks/get", json!({"id": id})).await?;
        if task["status"]["state"] == state {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{id} never became {state}"))
}

async fn act(url: String, name: String, id: String) -> Result<(), String> {
    let task = json!({"taskId": id});
    match name.as_str() {
        "pause" => {
            rpc(&url, "1.0", "tasks/pause", json!({"taskId": id, "reason": "review"})).await?;
            sleep(Duration::from_secs(7)).await;
        }
        "park" => {
            until(&url, &id, "paused-by-agent").await?;
            sleep(Duration::from_secs(7)).await;
        }
        "remind" => {
            until(&url, &id, "paused-by-agent").await?;
            let reminder = json!({"taskId": id, "reminder": {"body": "look up"}});
            rpc(&url, "1.0", "tasks/inject_reminder", reminder).await?;
        }
        _ => return Ok(()),
    }
    rpc(&url, "1.0", "tasks/resume", task).await.map(|_| ())
}

/// Reads to the end, and acts on the task once it is known. Gives its id and the last state.
async fn drain(url: &str, name: &str, mut frames: Frames) -> Result<(String, String), String> {
    let (mut id, mut state, mut acting) = (String::new(), String::new(), None);
    while let Some(frame) = frames.next().await {
        let (task, status) = match frame.map_err(|error| error.to_string())? {
            StreamResponse::Task(task) => (task.id.to_string(), Some(task.status)),
            StreamResponse::StatusUpdate(update) => (update.task_id.to_string(), Some(update.status)),
            StreamResponse::ArtifactUpdate(update) => (update.task_id.to_string(), None),
            StreamResponse::Message(_) => return Err("a message was not expected".into()),
        };
        id = task;
        if acting.is_none() {
            acting = Some(tokio::spawn(act(url.into(), name.into(), id.clone())));
        }
        let Some(status) = status else { continue };
        state = format!("{:?}", status.state);
        for part in status.message.iter().flat_map(|message| &message.parts) {
            let text = part.as_text().unwrap_or_default();
            if !SAID.contains(&text) {
                return Err(format!("a text that nobody said: {text}"));
            }
        }
    }
    if let Some(acting) = acting {
        acting.await.map_err(|error| error.to_string())??;
    }
    Ok((id, state))
}

fn request(part: Part, task: Option<String>) -> SendMessageRequest {
    let mut message = Message::new(Role::User, vec![part]);
    message.task_id = task.map(Into::into);
    SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
}

async fn send(client: &Client, part: Part, task: Option<String>) -> Result<Frames, String> {
    let sent = client.send_streaming_message(&request(part, task)).await;
    sent.map_err(|error| error.to_string())
}

fn expect(state: &str, wanted: &str) -> Result<(), String> {
    if state == wanted { Ok(()) } else { Err(format!("ended as {state}, not {wanted}")) }
}

async fn check(url: &str, client: &Client, name: &str) -> Result<(), String> {
    match name {
        "subscribe" => {
            let mut first = send(client, Part::text("park"), None).await?;
            let Some(Ok(StreamResponse::Task(task))) = first.next().await else {
                return Err("the first frame is not the task".into());
            };
            let wanted = SubscribeToTaskRequest { id: task.id.clone(), tenant: None };
            let frames = client.subscribe_to_task(&wanted).await.map_err(|error| error.to_string())?;
            expect(&drain(url, "park", frames).await?.1, "Completed")
        }
        "consent" => {
            let asked = drain(url, name, send(client, Part::text(name), None).await?).await?;
            expect(&asked.1, "AuthRequired")?;
            let task = rpc(url, "1.0", "GetTask", json!({"id": asked.0})).await?;
            let consent = &task["metadata"]["urn:lull:a2a:user-consent:1"]["consentId"];
            let answer = Part::data(json!({"consentId": consent, "decision": "granted"}));
            let frames = send(client, answer, Some(asked.0)).await?;
            expect(&drain(url, name, frames).await?.1, "Completed")
        }
        _ => {
            let frames = send(client, Part::text(name), None).await?;
            expect(&drain(url, name, frames).await?.1, "Completed")
        }
    }
}

#[tokio::main]
async fn main() {
    let url = std::env::args().nth(1).expect("URL");
    let binding = std::env::args().nth(2).unwrap_or("JSONRPC".into());
    println!("a2a-client-lf 0.2.9 (Rust), A2A 1.0 over {binding}");
    let card = AgentCardResolver::new(None).resolve(&url).await.expect("the card");
    let factory = A2AClientFactory::builder().preferred_bindings(vec![binding]).build();
    let client = factory.create_from_card(&card).await.expect("a client");
    let mut failed = false;
    for name in ["fin", "pause", "park", "subscribe", "remind", "consent"] {
        let result = timeout(Duration::from_secs(60), check(&url, &client, name)).await;
        match result.unwrap_or(Err("hangs".into())) {
            Ok(()) => println!("PASS {name}"),
            Err(why) => {
                failed = true;
                println!("FAIL {name}: {why}");
            }
        }
    }
    std::process::exit(if failed { 1 } else { 0 });
}
