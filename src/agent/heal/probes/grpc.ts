import { formatError } from '../../../kit/errors.ts'
import { type GrpcConnections, GrpcStatusError } from './grpc-connections.ts'
import { failedResult, healthyResult, type ProbeResult, type ProbeRunner } from './probe-runner.ts'

/** Status SERVING of grpc.health.v1. */
const serving = 1

/** Checks whether a server reports SERVING through the gRPC health service. */
export function createGrpcProbe(connections: GrpcConnections): ProbeRunner<'grpc'> {
  return async ({ endpoint }, signal) =>
    callGrpc(connections, endpoint, '/grpc.health.v1.Health/Check', signal, (response) => {
      const status = readNumberField(response, 1)
      return status === serving
        ? healthyResult
        : failedResult('HEALTH_CHECK_FAILED', `it reports gRPC health status ${status}, not SERVING`)
    })
}

/**
 * Makes one gRPC call and converts the response with `toResult`. A missing response or an error status
 * becomes a failed result.
 */
export async function callGrpc(
  connections: GrpcConnections,
  endpoint: string,
  method: string,
  signal: AbortSignal,
  toResult: (response: Uint8Array) => ProbeResult,
): Promise<ProbeResult> {
  try {
    return toResult(await connections.call(endpoint, method, signal))
  } catch (error) {
    signal.throwIfAborted()
    return failedResult(
      error instanceof GrpcStatusError ? 'HEALTH_CHECK_FAILED' : 'HEALTH_NO_RESPONSE',
      formatError(error),
    )
  }
}

interface RuntimeCondition {
  readonly type: string
  readonly status: boolean
  readonly message: string
}

/** Checks whether the container runtime reports RuntimeReady, or NetworkReady if `network` is set. */
export function createCriProbe(connections: GrpcConnections): ProbeRunner<'cri'> {
  return async ({ endpoint, network = false }, signal) =>
    callGrpc(connections, endpoint, '/runtime.v1.RuntimeService/Status', signal, (response) => {
      const conditions = parseConditions(response)
      return network
        ? toCriResult(conditions, 'NetworkReady', 'RUNTIME_NO_NETWORK')
        : toCriResult(conditions, 'RuntimeReady', 'RUNTIME_NOT_READY')
    })
}

/** Reads the conditions from the `status` field of a StatusResponse. */
function parseConditions(response: Uint8Array): RuntimeCondition[] {
  const [status = new Uint8Array()] = readBytesFields(response, 1)
  return readBytesFields(status, 1).map((condition) => ({
    type: readTextField(condition, 1),
    status: readNumberField(condition, 2) !== 0,
    message: [readTextField(condition, 3), readTextField(condition, 4)]
      .filter((text) => text !== '')
      .join(': '),
  }))
}

function toCriResult(conditions: readonly RuntimeCondition[], type: string, code: string): ProbeResult {
  const found = conditions.find((condition) => condition.type === type)
  if (found?.status === true) return healthyResult
  return failedResult(code, found?.message || `it does not report the condition ${type}`)
}

/** A field of a message: a number, or bytes that contain text or a nested message. */
interface Field {
  readonly number: number
  readonly value: number | Uint8Array
}

/** Yields the fields of a protocol buffers message. Throws if the message is truncated. */
export function* readFields(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = view.getUint8(at++)
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      // A varint has at most ten bytes, enough for 64 bits.
      if (shift >= 2 ** 63) throw new RangeError('a varint is too long')
    }
  }
  const bytes = (length: number): Uint8Array => {
    if (at + length > message.length) throw new RangeError('a field is truncated')
    return message.subarray(at, (at += length))
  }
  while (at < message.length) {
    const key = varint()
    yield { number: Math.floor(key / 8), value: readValue(key % 8, varint, bytes) }
  }
}

function readValue(
  type: number,
  varint: () => number,
  bytes: (length: number) => Uint8Array,
): number | Uint8Array {
  if (type === 0) return varint()
  if (type === 1) return bytes(8)
  if (type === 2) return bytes(varint())
  if (type === 5) return bytes(4)
  throw new RangeError(`unknown field type ${type}`)
}

/** Returns all values of a repeated field that contains text or messages, in order. */
export function readBytesFields(message: Uint8Array, number: number): Uint8Array[] {
  return [...readFields(message)].flatMap((field) =>
    field.number === number && field.value instanceof Uint8Array ? [field.value] : [],
  )
}

/** Returns an empty text if the message does not contain the field. */
export function readTextField(message: Uint8Array, number: number): string {
  return Buffer.from(readBytesFields(message, number).at(-1) ?? []).toString('utf8')
}

/** Returns 0 if the message does not contain the field, which is also the encoding of false. */
export function readNumberField(message: Uint8Array, number: number): number {
  const found = [...readFields(message)].findLast((field) => field.number === number)?.value
  return typeof found === 'number' ? found : 0
}
