"""Agent frameworks that call other people's agents over A2A, unmodified, against a Lull server.

usage: frameworks.py URL crewai|adk
Control methods are called as plain JSON-RPC beside them. CrewAI can answer in words only, and the agent here takes
consent as data, so neither framework grants it: they are asked, and hand the question back.
"""

import asyncio
import importlib.metadata
import os
import sys

os.environ |= {'OTEL_SDK_DISABLED': 'true', 'CREWAI_DISABLE_TELEMETRY': 'true'}

import httpx  # noqa: E402

URL, FRAMEWORK = sys.argv[1], sys.argv[2]
CARD = f'{URL}/.well-known/agent-card.json'
# Longer than the usual read timeout of 5 s.
SILENCE_S = 7
SAID = {'begin', 'fin', 'waiting', 'Sure?'}


async def rpc(method, params, version='1.0'):
    async with httpx.AsyncClient(timeout=30) as http:
        body = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
        answer = (await http.post(URL, json=body, headers={'A2A-Version': version})).json()
        assert 'error' not in answer, answer
        return answer['result']


async def newest(state):
    """The id of the latest task, once it is in that state."""
    for _ in range(400):
        for task in (await rpc('ListTasks', {'pageSize': 1}))['tasks']:
            found = await rpc('tasks/get', {'id': task['id']}, '0.3')
            if found['status']['state'] == state:
                return task['id']
        await asyncio.sleep(0.05)
    raise AssertionError(f'no task became {state}')


async def pause():
    task_id = await newest('working')
    await rpc('tasks/pause', {'taskId': task_id, 'reason': 'review'})
    await asyncio.sleep(SILENCE_S)
    await rpc('tasks/resume', {'taskId': task_id})


async def park():
    task_id = await newest('paused-by-agent')
    await asyncio.sleep(SILENCE_S)
    await rpc('tasks/resume', {'taskId': task_id})


async def remind():
    task_id = await newest('paused-by-agent')
    await rpc('tasks/inject_reminder', {'taskId': task_id, 'reminder': {'body': 'look up'}})
    await rpc('tasks/resume', {'taskId': task_id})


async def crewai(text):
    """How it ended, and every text of the result."""
    from crewai.a2a.utils.delegation import aexecute_a2a_delegation

    result = await aexecute_a2a_delegation(
        endpoint=CARD, auth=None, timeout=60, task_description=text
    )
    texts = (result.get('result') or result.get('error') or '').split()
    return result['status'].value, texts


async def adk(text):
    from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(agent=RemoteA2aAgent(name='w', agent_card=CARD), app_name='w')
    session = await runner.session_service.create_session(app_name='w', user_id='u')
    said = types.Content(role='user', parts=[types.Part(text=text)])
    state, texts = 'completed', []
    async for event in runner.run_async(user_id='u', session_id=session.id, new_message=said):
        assert event.error_message is None, event.error_message
        if event.long_running_tool_ids:
            state = 'input-required'
        parts = event.content.parts if event.content else []
        texts += [part.text for part in parts if part.text]
    return state, texts


async def main():
    package = {'crewai': 'crewai', 'adk': 'google-adk'}[FRAMEWORK]
    print(f'{package} {importlib.metadata.version(package)} (Python)')
    call = {'crewai': crewai, 'adk': adk}[FRAMEWORK]
    failures = 0
    for text, acting in [('fin', None), ('pause', pause), ('park', park), ('remind', remind), ('consent', None)]:
        try:
            acted = asyncio.create_task(acting()) if acting else None
            state, texts = await asyncio.wait_for(call(text), 60)
            if acted:
                await acted
            assert set(texts) <= SAID, f'texts that nobody said: {texts}'
            wanted = 'input-required' if text == 'consent' else 'completed'
            assert state == wanted, f'{state} is not {wanted}'
            print(f'PASS {text}')
        except BaseException as error:  # noqa: BLE001
            failures += 1
            print(f'FAIL {text}: {type(error).__name__}: {error}')
    sys.exit(1 if failures else 0)


asyncio.run(main())
