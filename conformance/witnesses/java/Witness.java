import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The official Java client (1.0 or 0.3 line, by the Sdk.java beside this file), unmodified, against a Lull server.
 * Arguments: URL (JSONRPC | HTTP+JSON). Control methods, which the SDK does not have, are called as plain JSON-RPC.
 */
public class Witness {
  /** One event of a stream: the state if the event carries a status, and the texts of its message. */
  record Seen(String taskId, String state, List<String> texts) {}

  interface Client {
    void send(String text, String taskId, Map<String, Object> data, Consumer<Seen> seen, Consumer<Throwable> failed)
        throws Exception;

    void subscribe(String taskId, Consumer<Seen> seen, Consumer<Throwable> failed) throws Exception;
  }

  interface Work {
    void run() throws Exception;
  }

  interface Opening {
    void open(Consumer<Seen> seen, Consumer<Throwable> failed) throws Exception;
  }

  interface Acting {
    void act(String taskId) throws Exception;
  }

  static final Set<String> SAID = Set.of("begin", "fin", "waiting", "Sure?");
  static final long SILENCE_MS = 7_000;
  static final HttpClient HTTP = HttpClient.newHttpClient();
  static String url;
  static int failures = 0;

  static String call(String version, String method, String params) throws Exception {
    String body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}";
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body));
    if (version != null) request.header("A2A-Version", version);
    String answer = HTTP.send(request.build(), BodyHandlers.ofString()).body();
    if (answer.contains("\"error\"")) throw new AssertionError(method + ": " + answer);
    return answer;
  }

  static void control(String method, String taskId, String more) throws Exception {
    call("1.0", method, "{\"taskId\":\"" + taskId + "\"" + more + "}");
  }

  static String task(String taskId) throws Exception {
    return call(null, "tasks/get", "{\"id\":\"" + taskId + "\"}");
  }

  static void stopped(String taskId, String state) throws Exception {
    for (int i = 0; i < 200; i++) {
      if (task(taskId).contains("\"state\":\"" + state + "\"")) return;
      Thread.sleep(50);
    }
    throw new AssertionError(taskId + " never became " + state);
  }

  static boolean isOver(String state) {
    return state != null && state.toLowerCase().replace('_', '-').matches(".*(completed|failed|canceled|rejected|-required)");
  }

  /** Reads a stream until its task has ended or waits for its user. */
  static List<Seen> drain(Opening opening, Acting acting) throws Exception {
    List<Seen> all = new ArrayList<>();
    CompletableFuture<Void> over = new CompletableFuture<>();
    CompletableFuture<String> started = new CompletableFuture<>();
    Consumer<Throwable> failed = error -> {
      if (error != null) over.completeExceptionally(error);
    };
    opening.open(one -> {
      synchronized (all) {
        all.add(one);
      }
      started.complete(one.taskId());
      if (isOver(one.state())) over.complete(null);
    }, failed);
    if (acting != null) acting.act(started.get(30, TimeUnit.SECONDS));
    over.get(30, TimeUnit.SECONDS);
    for (Seen one : all) {
      if (!SAID.containsAll(one.texts())) throw new AssertionError("texts that nobody said: " + one);
    }
    return all;
  }

  static void ends(List<Seen> all, String state) {
    String last = all.get(all.size() - 1).state();
    if (last == null || !last.toLowerCase().replace('_', '-').endsWith(state)) {
      throw new AssertionError(all + " does not end with " + state);
    }
  }

  static long count(List<Seen> all, String text) {
    return all.stream().flatMap(one -> one.texts().stream()).filter(text::equals).count();
  }

  static void complete(List<Seen> all) {
    ends(all, "completed");
    if (count(all, "begin") > 1 || count(all, "fin") != 1) throw new AssertionError("texts repeated: " + all);
  }

  static void check(String name, Work work) {
    try {
      work.run();
      System.out.println("PASS " + name);
    } catch (Throwable error) {
      failures++;
      System.out.println("FAIL " + name + ": " + error + (error.getCause() == null ? "" : ", " + error.getCause()));
    }
  }

  static void pause(String taskId) throws Exception {
    control("tasks/pause", taskId, ",\"reason\":\"review\"");
    Thread.sleep(SILENCE_MS);
    control("tasks/resume", taskId, "");
  }

  static void wake(String taskId) throws Exception {
    stopped(taskId, "paused-by-agent");
    Thread.sleep(SILENCE_MS);
    control("tasks/resume", taskId, "");
  }

  static void remind(String taskId) throws Exception {
    stopped(taskId, "paused-by-agent");
    control("tasks/inject_reminder", taskId, ",\"reminder\":{\"body\":\"look up\"}");
    control("tasks/resume", taskId, "");
  }

  static Opening sending(Client client, String text) {
    return (seen, failed) -> client.send(text, null, null, seen, failed);
  }

  static void subscribed(Client client) throws Exception {
    CompletableFuture<String> started = new CompletableFuture<>();
    client.send("park", null, null, one -> started.complete(one.taskId()), error -> {});
    String id = started.get(30, TimeUnit.SECONDS);
    stopped(id, "paused-by-agent");
    ends(drain((seen, failed) -> client.subscribe(id, seen, failed), Witness::wake), "completed");
  }

  static void consent(Client client, String state) throws Exception {
    List<Seen> asked = drain(sending(client, "consent"), null);
    ends(asked, state);
    String id = asked.get(0).taskId();
    var found = Pattern.compile("\"consentId\":\"([^\"]+)\"").matcher(task(id));
    if (!found.find()) throw new AssertionError("no consentId in " + task(id));
    Map<String, Object> answer = Map.of("consentId", found.group(1), "decision", "granted");
    ends(drain((seen, failed) -> client.send(null, id, answer, seen, failed), null), "completed");
  }

  public static void main(String[] args) throws Exception {
    url = args[0];
    Client client = Sdk.connect(url, args[1]);
    System.out.println("a2a-java-sdk " + Sdk.LINE + ", A2A " + Sdk.VERSION + " over " + args[1]);
    check("send and stream", () -> complete(drain(sending(client, "fin"), null)));
    check("pause and resume, 7 s of silence", () -> complete(drain(sending(client, "pause"), Witness::pause)));
    check("park and wake, 7 s of silence", () -> complete(drain(sending(client, "park"), Witness::wake)));
    check("subscribe through a park", () -> subscribed(client));
    check("reminders", () -> complete(drain(sending(client, "remind"), Witness::remind)));
    check("consent", () -> consent(client, Sdk.VERSION.equals("1.0") ? "auth-required" : "input-required"));
    System.exit(failures == 0 ? 0 : 1);
  }
}
