import type { Cluster } from '../spec/cluster.ts'

/** Builds the environment variables of the HTTP proxy. */
export function buildProxyVariables({ spec }: Cluster): Record<string, string> {
  const { proxy } = spec
  return {
    ...(proxy?.http === undefined ? {} : { HTTP_PROXY: proxy.http }),
    ...(proxy?.https === undefined ? {} : { HTTPS_PROXY: proxy.https }),
    ...(proxy?.no === undefined ? {} : { NO_PROXY: proxy.no.join(',') }),
  }
}
