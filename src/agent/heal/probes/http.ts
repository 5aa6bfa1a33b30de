import { describe } from '../../../kit/errors.ts'
import type { Seen } from '../probe-result.ts'
import { type Ask, failed, unknown, well } from './probe-runner.ts'
import type { FreshFiles } from './cached-files.ts'
import { Untrusted, type Web, type WebAnswer, type WebTrust } from './http-client.ts'

/** Whether a server says of itself that it is well. One that is stopped takes connections and says nothing. */
export function askHttp(web: Web, files: FreshFiles): Ask<'http'> {
  return async ({ url, authority, credentials }, signal, { probe }) => {
    const trust: WebTrust = {
      ...(authority === undefined ? {} : { ca: await files.needed(authority) }),
      ...(credentials === undefined
        ? {}
        : {
            cert: await files.needed(credentials.certificate),
            key: await files.needed(credentials.privateKey),
          }),
    }
    try {
      return verdict(await web.get(url, trust, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Untrusted)) return failed('HEALTH_NO_ANSWER', describe(error))
      const seen = `its certificate is not trusted: ${error.message}`
      // It answers, so it lives; and no start anew gives it another certificate.
      return probe.scope === 'local' ? unknown(seen) : failed('HEALTH_UNWELL', seen)
    }
  }
}

function verdict({ status, body }: WebAnswer): Seen {
  if (status >= 200 && status < 300) return well
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  // etcd and Kubernetes list all they have looked at, one in a line, what is well among it.
  const words = lines.find((line) => line.startsWith('[-]')) ?? lines[0]
  return failed('HEALTH_UNWELL', words === undefined ? `status ${status}` : `status ${status}: ${words}`)
}
