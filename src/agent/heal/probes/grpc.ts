import { formatError } from '../../../kit/errors.ts'
import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import { GrpcStatusError, type GrpcConnections } from './grpc-connections.ts'
import { readNumberField } from './protobuf.ts'

/** Status SERVING of grpc.health.v1. */
const serving = 1

/** Checks whether a server reports SERVING through the gRPC health service. */
export function createGrpcProbe(connections: GrpcConnections): ProbeRunner<'grpc'> {
  return async ({ endpoint }, signal) =>
    callGrpc(connections, endpoint, '/grpc.health.v1.Health/Check', signal, (response) => {
      const status = readNumberField(response, 1)
      return status === serving
        ? healthyResult
        : failedResult('HEALTH_CHECK_FAILED', `it says that it does not serve: ${status}`)
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
