import type { Seen } from '../probe-result.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import { called } from './grpc.ts'
import type { GrpcLines } from './grpc-connections.ts'
import { numberOf, partsOf, textOf } from './protobuf.ts'

interface Condition {
  readonly type: string
  readonly status: boolean
  readonly words: string
}

/** Whether the container runtime says that it is ready; where the network is asked for, that alone. */
export function askCri(lines: GrpcLines): Ask<'cri'> {
  return async ({ endpoint, network = false }, signal) =>
    called(lines, endpoint, '/runtime.v1.RuntimeService/Status', signal, (answer) => {
      const conditions = conditionsIn(answer)
      return network
        ? verdict(conditions, 'NetworkReady', 'RUNTIME_NO_NETWORK')
        : verdict(conditions, 'RuntimeReady', 'RUNTIME_NOT_READY')
    })
}

/** Of a StatusResponse: its status, the conditions of that. */
function conditionsIn(answer: Uint8Array): Condition[] {
  const [status = new Uint8Array()] = partsOf(answer, 1)
  return partsOf(status, 1).map((condition) => ({
    type: textOf(condition, 1),
    status: numberOf(condition, 2) !== 0,
    words: [textOf(condition, 3), textOf(condition, 4)].filter((text) => text !== '').join(': '),
  }))
}

function verdict(conditions: readonly Condition[], type: string, code: string): Seen {
  const found = conditions.find((condition) => condition.type === type)
  if (found?.status === true) return well
  return failed(code, found?.words || `it does not say ${type}`)
}
