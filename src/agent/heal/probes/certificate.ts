import { X509Certificate } from 'node:crypto'
import { type ProbeRunner, failedResult, unknownResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'
import type { CachedFiles } from './cached-files.ts'

/**
 * Checks how long a certificate remains valid. A missing certificate is unknown here, because drift detection
 * reports it.
 */
export function createCertificateProbe(
  files: CachedFiles,
  clock: ProbeDeps['clock'],
): ProbeRunner<'certificate'> {
  return async ({ file, minRemaining }) => {
    const text = await files.read(file)
    if (text === undefined) return unknownResult(`there is no ${file}`)
    const { validFromDate, validToDate } = new X509Certificate(text)
    const [now, from, to] = [clock.now().getTime(), validFromDate.getTime(), validToDate.getTime()]
    if (now >= to) return failedResult('CERTIFICATE_EXPIRED', `${file} was valid until ${iso(validToDate)}`)
    if (now < from)
      return failedResult('CERTIFICATE_EXPIRED', `${file} is not valid before ${iso(validFromDate)}`)
    if ((to - now) / (to - from) >= minRemaining) return healthyResult
    return failedResult('CERTIFICATE_DUE', `${file} is valid until ${iso(validToDate)}, and was not renewed`)
  }
}

function iso(date: Date): string {
  return date.toISOString()
}
