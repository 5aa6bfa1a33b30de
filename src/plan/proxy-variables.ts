import type { Cluster } from '../spec/cluster.ts'

/** The way out, as programs want to find it in their environment. */
export function proxyVariables({ spec }: Cluster): Record<string, string> {
  const { proxy } = spec
  return {
    ...(proxy?.http === undefined ? {} : { HTTP_PROXY: proxy.http }),
    ...(proxy?.https === undefined ? {} : { HTTPS_PROXY: proxy.https }),
    ...(proxy?.no === undefined ? {} : { NO_PROXY: proxy.no.join(',') }),
  }
}
