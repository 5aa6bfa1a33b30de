import { refused } from '../fetcher.ts'
import { attempts, type Pause } from '../retrying-fetcher.ts'
import type { Web } from './transport.ts'

/** Tries a request three times when the network or a server fails. A body that breaks is up to whoever reads it. */
export function retryingWeb(web: Web, pause?: Pause): Web {
  return {
    get: async (url, headers, signal) =>
      attempts(
        async () => {
          const answer = await web.get(url, headers, signal)
          if (answer.status < 500) return answer
          await answer.leave()
          throw refused(url, answer.status)
        },
        signal,
        pause,
      ),
  }
}
