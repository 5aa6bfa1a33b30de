import { formatError } from '../../../kit/errors.ts'
import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, failedResult, unknownResult, healthyResult } from './probe-runner.ts'
import type { CachedFiles } from './cached-files.ts'
import {
  UntrustedCertificateError,
  type ProbeHttpClient,
  type ProbeHttpResponse,
  type ProbeTlsOptions,
} from './http-client.ts'

/**
 * Checks whether a server reports that it is healthy. A stopped process still accepts connections but never
 * responds, so a response is required.
 */
export function createHttpProbe(web: ProbeHttpClient, files: CachedFiles): ProbeRunner<'http'> {
  return async ({ url, caFile, credentials }, signal, { probe }) => {
    const tls: ProbeTlsOptions = {
      ...(caFile === undefined ? {} : { ca: await files.readRequired(caFile) }),
      ...(credentials === undefined
        ? {}
        : {
            cert: await files.readRequired(credentials.certificate),
            key: await files.readRequired(credentials.privateKey),
          }),
    }
    try {
      return toResult(await web.get(url, tls, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof UntrustedCertificateError))
        return failedResult('HEALTH_NO_RESPONSE', formatError(error))
      const message = `its certificate is not trusted: ${error.message}`
      // The server responds, so it runs; a restart would not change its certificate.
      return probe.scope === 'local' ? unknownResult(message) : failedResult('HEALTH_CHECK_FAILED', message)
    }
  }
}

function toResult({ status, body }: ProbeHttpResponse): ProbeResult {
  if (status >= 200 && status < 300) return healthyResult
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  // etcd and Kubernetes write one line per check; lines of failed checks start with `[-]`.
  const reason = lines.find((line) => line.startsWith('[-]')) ?? lines[0]
  return failedResult(
    'HEALTH_CHECK_FAILED',
    reason === undefined ? `status ${status}` : `status ${status}: ${reason}`,
  )
}
