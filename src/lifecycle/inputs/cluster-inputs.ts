import type { RenderedChart } from '../../addons/chart/read-chart.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Lock } from '../../catalog/lock.ts'
import type { Identity } from '../../identity/identity.ts'
import { type NetworkLogins, secretFiles } from '../../identity/secret-files.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** All inputs of a cluster that the operator provides. */
export interface ClusterInputs {
  readonly cluster: Cluster
  readonly catalog: Catalog
  readonly lock: Lock
  readonly identity: Identity
  readonly attachments: ReadonlyMap<string, string>
  /** Contents of user addons, by file name or URL. */
  readonly sources: ReadonlyMap<string, string>
  /** Rendered Helm charts, by the name of the addon. */
  readonly charts: ReadonlyMap<string, RenderedChart>
  /** Returns the hyperkube version for a host. */
  readonly version: (host: string) => string
}

function listNetworkLogins({ spec }: Cluster): NetworkLogins {
  const { registries, proxy } = spec
  return {
    registries: registries.flatMap(({ host, username, password }) =>
      password === undefined ? [] : [{ host, username: username ?? '', password: password.secret }],
    ),
    proxy:
      proxy?.username === undefined || proxy.password === undefined
        ? undefined
        : { ...proxy, username: proxy.username, password: proxy.password.secret },
  }
}

export function collectSecrets({ identity, cluster }: ClusterInputs): ReadonlyMap<string, Secret> {
  return secretFiles(identity, listNetworkLogins(cluster))
}
