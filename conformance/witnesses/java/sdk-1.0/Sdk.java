import io.a2a.A2A;
import io.a2a.client.Client;
import io.a2a.client.ClientBuilder;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfig;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfig;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.spec.AgentCard;
import io.a2a.spec.DataPart;
import io.a2a.spec.Message;
import io.a2a.spec.Part;
import io.a2a.spec.TaskIdParams;
import io.a2a.spec.TaskStatus;
import io.a2a.spec.TaskStatusUpdateEvent;
import io.a2a.spec.TextPart;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** The 1.0 line of the SDK. */
final class Sdk {
  static final String LINE = "1.0";
  static final String VERSION = "1.0";
  private static final Map<String, String> HEADERS = Map.of("A2A-Version", VERSION);
  /** This release does not send the header by itself, although the specification asks clients to. */
  private static final ClientCallContext CONTEXT = new ClientCallContext(Map.of(), HEADERS);

  static Witness.Client connect(String url, String binding) throws Exception {
    // Its parser refuses members that 1.0 does not have. Without the header the card also has the members of 0.3.
    AgentCard card = A2A.getAgentCard(url, null, HEADERS);
    ClientBuilder builder = Client.builder(card).clientConfig(ClientConfig.builder().setStreaming(true).build());
    Client client = binding.equals("JSONRPC")
        ? builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig()).build()
        : builder.withTransport(RestTransport.class, new RestTransportConfig()).build();
    return new Witness.Client() {
      public void send(String text, String taskId, Map<String, Object> data, Consumer<Witness.Seen> seen,
          Consumer<Throwable> failed) throws Exception {
        Part<?> part = data == null ? new TextPart(text) : new DataPart(data);
        Message message = Message.builder().role(Message.Role.ROLE_USER).parts(part).taskId(taskId)
            .messageId(UUID.randomUUID().toString()).build();
        client.sendMessage(message, List.of(reading(seen)), failed, CONTEXT);
      }

      public void subscribe(String taskId, Consumer<Witness.Seen> seen, Consumer<Throwable> failed) throws Exception {
        client.subscribeToTask(new TaskIdParams(taskId), List.of(reading(seen)), failed, CONTEXT);
      }
    };
  }

  private static BiConsumer<ClientEvent, AgentCard> reading(Consumer<Witness.Seen> seen) {
    return (event, card) -> {
      if (event instanceof TaskEvent one) {
        seen.accept(status(one.getTask().id(), one.getTask().status()));
      } else if (event instanceof TaskUpdateEvent one && one.getUpdateEvent() instanceof TaskStatusUpdateEvent update) {
        seen.accept(status(update.taskId(), update.status()));
      } else if (event instanceof MessageEvent one) {
        seen.accept(new Witness.Seen(null, null, texts(one.getMessage())));
      }
    };
  }

  private static Witness.Seen status(String taskId, TaskStatus status) {
    return new Witness.Seen(taskId, status.state().name(), texts(status.message()));
  }

  private static List<String> texts(Message message) {
    if (message == null) return List.of();
    return message.parts().stream().filter(TextPart.class::isInstance).map(one -> ((TextPart) one).text()).toList();
  }
}
