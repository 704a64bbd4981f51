"""
Writes src/wire/grpc/descriptors.ts: the descriptor set of every service that Lull speaks over gRPC.

    python3 -m venv /tmp/grpc && /tmp/grpc/bin/pip install 'a2a-sdk[grpc]==1.3.0' grpcio-tools==1.85.1 \
        grpcio-health-checking==1.85.1 grpcio-reflection==1.85.1
    /tmp/grpc/bin/python scripts/grpc-descriptors.py

A2A, health and reflection are the published descriptors of these packages (Apache-2.0). TaskControl is compiled from
spec/a2a/task_control.proto. Options are dropped (annotations for HTTP gateways and languages), because nobody here reads them.
"""
import base64
import pathlib
import re
import tempfile

from a2a.types import a2a_pb2
from google.protobuf import descriptor_pb2, empty_pb2, struct_pb2, timestamp_pb2
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).parent.parent
TASK_CONTROL = 'lull/a2a/v1/task_control.proto'


def published(module):
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    return file


def compiled():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, TASK_CONTROL)
        source.parent.mkdir(parents=True)
        source.write_text((ROOT / 'spec/a2a/task_control.proto').read_text())
        out = pathlib.Path(folder, 'out.binpb')
        included = pathlib.Path(protoc.__file__).parent / '_proto'
        assert protoc.main(['', f'-I{folder}', f'-I{included}', f'-o{out}', str(source)]) == 0
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file[0]


def error_details():
    """The details that A2A answers with, and what they are made of."""
    file = published(error_details_pb2)
    kept = [one for one in file.message_type if one.name in ('ErrorInfo', 'BadRequest', 'LocalizedMessage')]
    del file.message_type[:]
    file.message_type.extend(kept)
    del file.dependency[:]
    return file


def reflection_v1():
    """Version 1 has the messages of v1alpha in another package."""
    text = published(reflection_pb2).SerializeToString()
    file = descriptor_pb2.FileDescriptorProto.FromString(text)
    file.name = 'grpc/reflection/v1/reflection.proto'
    file.package = 'grpc.reflection.v1'
    renamed = lambda name: name.replace('grpc.reflection.v1alpha', 'grpc.reflection.v1')
    for message in file.message_type:
        for field in message.field:
            field.type_name = renamed(field.type_name)
    for service in file.service:
        for method in service.method:
            method.input_type = renamed(method.input_type)
            method.output_type = renamed(method.output_type)
    return file


def stripped(file):
    file.ClearField('options')
    del file.dependency[:]
    used = set()
    for message in file.message_type:
        strip_message(message, used)
    for enum in file.enum_type:
        enum.ClearField('options')
    for service in file.service:
        service.ClearField('options')
        for method in service.method:
            method.ClearField('options')
            used.update([method.input_type, method.output_type])
    own = f'.{file.package}.'
    names = {name for name in used if name and not name.startswith(own)}
    file.dependency.extend(sorted({WELL_KNOWN[name] for name in names}))
    return file


def strip_message(message, used):
    if not message.options.map_entry:
        message.ClearField('options')
    for field in message.field:
        field.ClearField('options')
        field.json_name = re.sub('_([a-z0-9])', lambda found: found[1].upper(), field.name)
        used.add(field.type_name)
    for nested in message.nested_type:
        strip_message(nested, used)
    for enum in message.enum_type:
        enum.ClearField('options')


well_known = [published(one) for one in (empty_pb2, struct_pb2, timestamp_pb2)]
WELL_KNOWN = {f'.{file.package}.{message.name}': file.name for file in well_known for message in file.message_type}

files = [
    *well_known,
    error_details(),
    published(a2a_pb2),
    compiled(),
    published(health_pb2),
    published(reflection_pb2),
    reflection_v1(),
]
descriptors = descriptor_pb2.FileDescriptorSet(file=[stripped(file) for file in files])
text = base64.b64encode(descriptors.SerializeToString()).decode()
lines = [text[at : at + 96] for at in range(0, len(text), 96)]
target = ROOT / 'src/wire/grpc/descriptors.ts'
target.parent.mkdir(parents=True, exist_ok=True)
target.write_text(
    '/** The descriptor set of the services over gRPC, in base64. scripts/grpc-descriptors.py wrote it. */\n'
    + 'export const descriptorSet: string = `\n'
    + '\n'.join(lines)
    + '\n`\n'
)
print(f'{len(descriptors.SerializeToString())} bytes of {len(files)} files')
