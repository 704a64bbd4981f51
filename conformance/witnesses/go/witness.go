// The official Go client (github.com/a2aproject/a2a-go/v2), unmodified, against a Lull server.
//
//	usage: witness URL [JSONRPC|HTTP+JSON|GRPC] [1.0|0.3]
//
// Control methods, which the SDK does not have, are called as plain JSON-RPC beside it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

var url string

var said = map[string]bool{"begin": true, "fin": true, "waiting": true, "Sure?": true}

func rpc(version, method string, params map[string]any) map[string]any {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	request, _ := http.NewRequest("POST", url, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	if version == "1.0" {
		request.Header.Set("A2A-Version", "1.0")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	json.NewDecoder(response.Body).Decode(&answer)
	if answer["error"] != nil {
		panic(fmt.Sprint(method, answer["error"]))
	}
	return answer["result"].(map[string]any)
}

func stopped(id, word string) {
	for range 200 {
		task := rpc("0.3", "tasks/get", map[string]any{"id": id})
		if task["status"].(map[string]any)["state"] == word {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	panic(id + " never became " + word)
}

func drain(events iter.Seq2[a2a.Event, error], acting func(id string)) (string, a2a.TaskState, error) {
	var id string
	var state a2a.TaskState
	for event, err := range events {
		if err != nil {
			return id, state, err
		}
		info := event.TaskInfo()
		if id == "" {
			id = string(info.TaskID)
			if acting != nil {
				go acting(id)
			}
		}
		var status *a2a.TaskStatus
		switch one := event.(type) {
		case *a2a.Task:
			status = &one.Status
		case *a2a.TaskStatusUpdateEvent:
			status = &one.Status
		}
		if status == nil {
			continue
		}
		state = status.State
		if status.Message == nil {
			continue
		}
		for _, part := range status.Message.Parts {
			if !said[part.Text()] {
				return id, state, fmt.Errorf("a text that nobody said: %q", part.Text())
			}
		}
	}
	return id, state, nil
}

func main() {
	url = os.Args[1]
	binding, version := a2a.TransportProtocol("JSONRPC"), "1.0"
	if len(os.Args) > 2 {
		binding = a2a.TransportProtocol(os.Args[2])
	}
	if len(os.Args) > 3 {
		version = os.Args[3]
	}
	ctx := context.Background()
	card, err := agentcard.NewResolver(http.DefaultClient).Resolve(ctx, url)
	if err != nil {
		panic(err)
	}
	kept := []*a2a.AgentInterface{}
	for _, one := range card.SupportedInterfaces {
		if string(one.ProtocolVersion) == version && one.ProtocolBinding == binding {
			kept = append(kept, one)
		}
	}
	card.SupportedInterfaces = kept
	client, err := a2aclient.NewFromCard(ctx, card,
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{}),
		a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		panic(err)
	}
	send := func(id string, part *a2a.Part) iter.Seq2[a2a.Event, error] {
		message := a2a.NewMessage(a2a.MessageRoleUser, part)
		message.TaskID = a2a.TaskID(id)
		return client.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: message})
	}
	failures := 0
	check := func(name string, want string, work func() (string, a2a.TaskState, error)) {
		_, state, err := work()
		if err == nil && !strings.HasSuffix(strings.ToUpper(strings.ReplaceAll(string(state), "-", "_")), want) {
			err = fmt.Errorf("ended as %s", state)
		}
		if err != nil {
			failures++
			fmt.Println("FAIL", name+":", err)
			return
		}
		fmt.Println("PASS", name)
	}
	silence := 7 * time.Second
	pause := func(id string) {
		rpc("1.0", "tasks/pause", map[string]any{"taskId": id, "reason": "review"})
		time.Sleep(silence)
		rpc("1.0", "tasks/resume", map[string]any{"taskId": id})
	}
	wake := func(id string) {
		stopped(id, "paused-by-agent")
		time.Sleep(silence)
		rpc("1.0", "tasks/resume", map[string]any{"taskId": id})
	}
	remind := func(id string) {
		stopped(id, "paused-by-agent")
		rpc("1.0", "tasks/inject_reminder", map[string]any{"taskId": id, "reminder": map[string]any{"body": "look up"}})
		rpc("1.0", "tasks/resume", map[string]any{"taskId": id})
	}
	through := func(text string, acting func(string)) func() (string, a2a.TaskState, error) {
		return func() (string, a2a.TaskState, error) {
			return drain(send("", a2a.NewTextPart(text)), acting)
		}
	}
	fmt.Printf("a2a-go v2 (Go), A2A %s over %s\n", version, binding)
	check("send and stream", "COMPLETED", through("fin", nil))
	check("pause and resume, 7 s of silence", "COMPLETED", through("pause", pause))
	check("park and wake, 7 s of silence", "COMPLETED", through("park", wake))
	check("subscribe through a park", "COMPLETED", func() (string, a2a.TaskState, error) {
		ids := make(chan string, 1)
		go drain(send("", a2a.NewTextPart("park")), func(id string) { ids <- id })
		id := <-ids
		go wake(id)
		return drain(client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}), nil)
	})
	check("reminders", "COMPLETED", through("remind", remind))
	check("consent", "COMPLETED", func() (string, a2a.TaskState, error) {
		id, state, err := drain(send("", a2a.NewTextPart("consent")), nil)
		if err != nil {
			return id, state, err
		}
		metadata := rpc("0.3", "tasks/get", map[string]any{"id": id})["metadata"].(map[string]any)
		asked := metadata["urn:lull:a2a:user-consent:1"].(map[string]any)
		answer := map[string]any{"consentId": asked["consentId"], "decision": "granted"}
		return drain(send(id, a2a.NewDataPart(answer)), nil)
	})
	if failures > 0 {
		os.Exit(1)
	}
}
