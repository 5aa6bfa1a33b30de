import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import { callGrpc } from './grpc.ts'
import type { GrpcConnections } from './grpc-connections.ts'
import { readNumberField, readBytesFields, readTextField } from './protobuf.ts'

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
        ? toResult(conditions, 'NetworkReady', 'RUNTIME_NO_NETWORK')
        : toResult(conditions, 'RuntimeReady', 'RUNTIME_NOT_READY')
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

function toResult(conditions: readonly RuntimeCondition[], type: string, code: string): ProbeResult {
  const found = conditions.find((condition) => condition.type === type)
  if (found?.status === true) return healthyResult
  return failedResult(code, found?.message || `it does not say ${type}`)
}
