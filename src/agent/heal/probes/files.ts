import { X509Certificate } from 'node:crypto'
import type { FileFacts, HostFiles } from '../../host/files.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeRunner, unknownResult } from './probe-runner.ts'

/**
 * Checks whether a file exists and is not empty. A file that is older than `maxAgeMs` means that the process
 * which writes it hangs.
 */
export function createFileProbe({ files, clock }: Pick<ProbeDeps, 'files' | 'clock'>): ProbeRunner<'file'> {
  return async ({ path, maxAgeMs }) => {
    const facts = await files.stat(path)
    if (facts === undefined) return failedResult('HEALTH_CHECK_FAILED', `there is no ${path}`)
    if (facts.size === 0) return failedResult('HEALTH_CHECK_FAILED', `${path} is empty`)
    const ageMs = clock.now().getTime() - Number(BigInt(facts.modified) / 1_000_000n)
    if (maxAgeMs === undefined || ageMs <= maxAgeMs) return healthyResult
    return failedResult('HEALTH_NO_RESPONSE', `${path} was written ${formatDuration(ageMs)} ago`)
  }
}

/**
 * Checks how long a certificate remains valid. If the certificate is missing, the result is `unknown`,
 * because drift detection reports a missing file.
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
    if (now >= to) return failedResult('CERTIFICATE_EXPIRED', `${file} expired at ${iso(validToDate)}`)
    if (now < from)
      return failedResult('CERTIFICATE_EXPIRED', `${file} is not valid before ${iso(validFromDate)}`)
    if ((to - now) / (to - from) >= minRemaining) return healthyResult
    return failedResult('CERTIFICATE_DUE', `${file} expires at ${iso(validToDate)} and was not renewed`)
  }
}

function iso(date: Date): string {
  return date.toISOString()
}

/** Caches file contents. A file is read again only if its metadata has changed. */
export class CachedFiles {
  readonly #files: Pick<HostFiles, 'stat' | 'read'>
  readonly #known = new Map<string, { readonly stamp: string; readonly read: string }>()

  constructor(files: Pick<HostFiles, 'stat' | 'read'>) {
    this.#files = files
  }

  /** Returns undefined if the file does not exist. */
  async read(path: string): Promise<string | undefined> {
    const facts = await this.#files.stat(path)
    const stamp = facts === undefined ? undefined : formatStamp(facts)
    const known = this.#known.get(path)
    if (known !== undefined && known.stamp === stamp) return known.read
    this.#known.delete(path)
    const text = (await this.#files.read(path))?.toString('utf8')
    if (stamp !== undefined && text !== undefined) this.#known.set(path, { stamp, read: text })
    return text
  }

  /** Like `read`, but throws if the file does not exist. */
  async readRequired(path: string): Promise<string> {
    const text = await this.read(path)
    if (text === undefined) throw new Error(`there is no ${path}`)
    return text
  }
}

function formatStamp({ inode, modified, changed, size }: FileFacts): string {
  return `${inode} ${modified} ${changed} ${size}`
}
