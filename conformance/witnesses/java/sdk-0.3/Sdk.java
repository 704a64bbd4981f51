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

/** The 0.3 line of the SDK. */
final class Sdk {
  static final String LINE = "0.3";
  static final String VERSION = "0.3";

  static Witness.Client connect(String url, String binding) throws Exception {
    AgentCard card = A2A.getAgentCard(url);
    ClientBuilder builder = Client.builder(card).clientConfig(new ClientConfig.Builder().setStreaming(true).build());
    Client client = binding.equals("JSONRPC")
        ? builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfig()).build()
        : builder.withTransport(RestTransport.class, new RestTransportConfig()).build();
    return new Witness.Client() {
      public void send(String text, String taskId, Map<String, Object> data, Consumer<Witness.Seen> seen,
          Consumer<Throwable> failed) throws Exception {
        Part<?> part = data == null ? new TextPart(text) : new DataPart(data);
        Message message = new Message.Builder().role(Message.Role.USER).parts(part).taskId(taskId)
            .messageId(UUID.randomUUID().toString()).build();
        client.sendMessage(message, List.of(reading(seen)), failed);
      }

      public void subscribe(String taskId, Consumer<Witness.Seen> seen, Consumer<Throwable> failed) throws Exception {
        client.resubscribe(new TaskIdParams(taskId), List.of(reading(seen)), failed);
      }
    };
  }

  private static BiConsumer<ClientEvent, AgentCard> reading(Consumer<Witness.Seen> seen) {
    return (event, card) -> {
      if (event instanceof TaskEvent one) {
        seen.accept(status(one.getTask().getId(), one.getTask().getStatus()));
      } else if (event instanceof TaskUpdateEvent one && one.getUpdateEvent() instanceof TaskStatusUpdateEvent update) {
        seen.accept(status(update.getTaskId(), update.getStatus()));
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
    return message.getParts().stream().filter(TextPart.class::isInstance).map(one -> ((TextPart) one).getText()).toList();
  }
}
