"""The official Python client (a2a-sdk 1.x or 0.3.x, whichever is installed), unmodified, against a Lull server.

usage: witness.py URL [JSONRPC|HTTP+JSON|GRPC] [1.0|0.3]
Control methods, which the SDK does not have, are called as plain JSON-RPC beside it.
"""

import asyncio
import importlib.metadata
import sys
import uuid

import httpx

SDK = importlib.metadata.version('a2a-sdk')
IS_V1 = not SDK.startswith('0.')
URL = sys.argv[1]
BINDING = sys.argv[2] if len(sys.argv) > 2 else 'JSONRPC'
VERSION = sys.argv[3] if len(sys.argv) > 3 else ('1.0' if IS_V1 else '0.3')
# Longer than the client's read timeout of 5 s: only heartbeats keep the stream alive.
SILENCE_S = 7
SAID = {'begin', 'fin', 'waiting', 'Sure?'}


async def control(method, params):
    async with httpx.AsyncClient(timeout=30) as http:
        body = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
        answer = (await http.post(URL, json=body, headers={'A2A-Version': '1.0'})).json()
        assert 'error' not in answer, answer
        return answer['result']


async def stopped(task_id, word):
    for _ in range(200):
        async with httpx.AsyncClient() as http:
            body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tasks/get', 'params': {'id': task_id}}
            state = (await http.post(URL, json=body)).json()['result']['status']['state']
        if state == word:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f'{task_id} never became {word}')


def insecure_channel(address):
    import grpc

    return grpc.aio.insecure_channel(address)


class V1:
    async def open(self):
        from a2a.client import A2ACardResolver, ClientConfig, ClientFactory

        async with httpx.AsyncClient() as http:
            card = await A2ACardResolver(http, URL).get_agent_card()
        kept = [one for one in card.supported_interfaces if one.protocol_version == VERSION]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(kept)
        config = ClientConfig(
            supported_protocol_bindings=[BINDING],
            use_client_preference=True,
            grpc_channel_factory=insecure_channel,
        )
        self.client = ClientFactory(config).create(card)

    async def send(self, text, task_id='', data=None):
        from a2a.types import Message, Part, Role, SendMessageRequest
        from google.protobuf import json_format, struct_pb2

        if data is None:
            part = Part(text=text)
        else:
            part = Part(data=json_format.ParseDict(data, struct_pb2.Value()))
        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[part])
        if task_id:
            message.task_id = task_id
        async for event in self.client.send_message(SendMessageRequest(message=message)):
            yield self.read(event)

    async def subscribe(self, task_id):
        from a2a.types import SubscribeToTaskRequest

        async for event in self.client.subscribe(SubscribeToTaskRequest(id=task_id)):
            yield self.read(event)

    def read(self, event):
        from a2a.types import TaskState

        kind = event.WhichOneof('payload')
        inner = getattr(event, kind)
        task_id = inner.id if kind == 'task' else inner.task_id
        status = inner.status if kind in ('task', 'status_update') else None
        if status is None:
            return task_id, None, []
        return task_id, TaskState.Name(status.state), [part.text for part in status.message.parts]


class V03:
    async def open(self):
        from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
        from a2a.types import TransportProtocol

        # The client's own timeout, as it is by default.
        self.http = httpx.AsyncClient()
        card = await A2ACardResolver(self.http, URL).get_agent_card()
        transport = TransportProtocol.jsonrpc if BINDING == 'JSONRPC' else TransportProtocol.http_json
        config = ClientConfig(
            httpx_client=self.http, supported_transports=[transport], use_client_preference=True
        )
        self.client = ClientFactory(config).create(card)

    async def send(self, text, task_id=None, data=None):
        from a2a.types import DataPart, Message, Part, Role, TextPart

        part = Part(root=TextPart(text=text)) if data is None else Part(root=DataPart(data=data))
        message = Message(
            message_id=str(uuid.uuid4()), role=Role.user, parts=[part], task_id=task_id or None
        )
        async for event in self.client.send_message(message):
            yield self.read(event)

    async def subscribe(self, task_id):
        from a2a.types import TaskIdParams

        async for event in self.client.resubscribe(TaskIdParams(id=task_id)):
            yield self.read(event)

    def read(self, event):
        task, update = event
        status = getattr(update, 'status', None) if update is not None else task.status
        if status is None:
            return task.id, None, []
        parts = status.message.parts if status.message else []
        return task.id, status.state.value, [part.root.text for part in parts]


async def drain(events, acting=None):
    states, texts, acted, task_id = [], [], None, None
    async for task_id, state, said in events:
        states.append(state)
        texts += said
        if acting and acted is None:
            acted = asyncio.create_task(acting(task_id))
    if acted:
        await acted
    assert set(texts) <= SAID, f'texts that nobody said: {texts}'
    return task_id, states, texts


def ends(states, word):
    last = [state for state in states if state][-1]
    assert last.lower().replace('_', '-').endswith(word), f'{states} does not end with {word}'


async def pause(task_id):
    await control('tasks/pause', {'taskId': task_id, 'reason': 'review'})
    await asyncio.sleep(SILENCE_S)
    await control('tasks/resume', {'taskId': task_id})


async def wake(task_id):
    await stopped(task_id, 'paused-by-agent')
    await asyncio.sleep(SILENCE_S)
    await control('tasks/resume', {'taskId': task_id})


async def remind(task_id):
    await stopped(task_id, 'paused-by-agent')
    await control('tasks/inject_reminder', {'taskId': task_id, 'reminder': {'body': 'look up'}})
    await control('tasks/resume', {'taskId': task_id})


async def main():
    client = V1() if IS_V1 else V03()
    await client.open()
    failures = 0

    async def check(name, work):
        nonlocal failures
        try:
            await asyncio.wait_for(work(), 60)
            print(f'PASS {name}')
        except BaseException as error:  # noqa: BLE001
            failures += 1
            print(f'FAIL {name}: {type(error).__name__}: {error}')

    async def plain():
        _, states, texts = await drain(client.send('fin'))
        ends(states, 'completed')
        assert texts.count('fin') == 1, texts

    def through(text, acting):
        async def work():
            _, states, texts = await drain(client.send(text), acting)
            ends(states, 'completed')
            assert texts.count('begin') <= 1 and texts.count('fin') == 1, texts

        return work

    async def subscribed():
        started = asyncio.Event()
        found = []

        async def note(task_id):
            found.append(task_id)
            started.set()

        sending = asyncio.create_task(drain(client.send('park'), note))
        await started.wait()
        waking = asyncio.create_task(wake(found[0]))
        _, states, _ = await drain(client.subscribe(found[0]))
        ends(states, 'completed')
        await waking
        await sending

    async def consent():
        task_id, states, _ = await drain(client.send('consent'))
        ends(states, 'auth-required' if VERSION == '1.0' else 'input-required')
        async with httpx.AsyncClient() as http:
            body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tasks/get', 'params': {'id': task_id}}
            task = (await http.post(URL, json=body)).json()['result']
        asked = task['metadata']['urn:lull:a2a:user-consent:1']
        answer = {'consentId': asked['consentId'], 'decision': 'granted'}
        _, states, _ = await drain(client.send('', task_id, answer))
        ends(states, 'completed')

    print(f'a2a-sdk {SDK} (Python), A2A {VERSION} over {BINDING}')
    await check('send and stream', plain)
    await check('pause and resume, 7 s of silence', through('pause', pause))
    await check('park and wake, 7 s of silence', through('park', wake))
    await check('subscribe through a park', subscribed)
    await check('reminders', through('remind', remind))
    await check('consent', consent)
    sys.exit(1 if failures else 0)


asyncio.run(main())
