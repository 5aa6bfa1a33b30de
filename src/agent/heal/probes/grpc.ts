import { describe } from '../../../kit/errors.ts'
import type { Seen } from '../probe-result.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import { GrpcRefusal, type GrpcLines } from './grpc-connections.ts'
import { numberOf } from './protobuf.ts'

/** SERVING of grpc.health.v1. */
const serving = 1

/** Whether a server says by gRPC's own health service that it serves. */
export function askGrpc(lines: GrpcLines): Ask<'grpc'> {
  return async ({ endpoint }, signal) =>
    called(lines, endpoint, '/grpc.health.v1.Health/Check', signal, (answer) => {
      const status = numberOf(answer, 1)
      return status === serving ? well : failed('HEALTH_UNWELL', `it says that it does not serve: ${status}`)
    })
}

/** One call, and what no answer to it means. */
export async function called(
  lines: GrpcLines,
  endpoint: string,
  method: string,
  signal: AbortSignal,
  judge: (answer: Uint8Array) => Seen,
): Promise<Seen> {
  try {
    return judge(await lines.call(endpoint, method, signal))
  } catch (error) {
    signal.throwIfAborted()
    return failed(error instanceof GrpcRefusal ? 'HEALTH_UNWELL' : 'HEALTH_NO_ANSWER', describe(error))
  }
}
