import { X509Certificate } from 'node:crypto'
import { type Ask, failed, unknown, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'
import type { FreshFiles } from './cached-files.ts'

/** How long a certificate is good for. One that is not there is somebody else's finding. */
export function askCertificate(files: FreshFiles, clock: ProbeEdges['clock']): Ask<'certificate'> {
  return async ({ file, left }) => {
    const text = await files.text(file)
    if (text === undefined) return unknown(`there is no ${file}`)
    const { validFromDate, validToDate } = new X509Certificate(text)
    const [now, from, to] = [clock.now().getTime(), validFromDate.getTime(), validToDate.getTime()]
    if (now >= to) return failed('CERTIFICATE_EXPIRED', `${file} was valid until ${iso(validToDate)}`)
    if (now < from) return failed('CERTIFICATE_EXPIRED', `${file} is not valid before ${iso(validFromDate)}`)
    if ((to - now) / (to - from) >= left) return well
    return failed('CERTIFICATE_DUE', `${file} is valid until ${iso(validToDate)}, and was not renewed`)
  }
}

function iso(date: Date): string {
  return date.toISOString()
}
