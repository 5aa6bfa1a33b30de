import { urlStatusError } from '../fetcher.ts'
import { withFetchRetries, type RetryPause } from '../retrying-fetcher.ts'
import type { RegistryTransport } from './transport.ts'

/**
 * Wraps a transport and tries each request up to three times if the network or a server fails. An error while
 * the body is read is not retried.
 */
export function retryingRegistryTransport(
  transport: RegistryTransport,
  pause?: RetryPause,
): RegistryTransport {
  return {
    get: async (url, headers, signal) =>
      withFetchRetries(
        async () => {
          const response = await transport.get(url, headers, signal)
          if (response.status < 500) return response
          await response.cancel()
          throw urlStatusError(url, response.status)
        },
        signal,
        pause,
      ),
  }
}
