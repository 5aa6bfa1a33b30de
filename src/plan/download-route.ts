import { type DownloadSettings, downloadSettingsFile, proxyLoginFile } from '../contract/download-settings.ts'
import type { PlannedFile } from '../contract/component-plan.ts'
import { readMirror } from '../spec/download-sources.ts'
import { listProxyBypass } from '../spec/download-route.ts'
import { listNodeAddresses, type PlanContext } from './context.ts'
import { planSecretFile, planTextFile } from './files.ts'

/**
 * Lists the targets that a host reaches without the proxy. Other workers are not included, so a new worker
 * changes no other host.
 */
export function listHostBypass(context: PlanContext): readonly string[] {
  const { cluster, topology, host } = context
  const { controlPlanes, etcd } = topology
  const servers = [...controlPlanes, ...etcd].flatMap((server) => [server.address, server.name])
  return listProxyBypass(cluster, [...new Set([...servers, ...listNodeAddresses(context), host.name])])
}

/** Plans the settings with which the agent downloads files. Without a proxy and a private CA there are none. */
export function planDownloadSettings(
  context: PlanContext,
  owner: string,
  at: (name: string) => string,
): PlannedFile[] {
  const { cluster, identity, attachments } = context
  const { proxy, artifacts } = cluster.spec
  const mirror = readMirror(artifacts)
  if (proxy === undefined && mirror?.ca === undefined) return []
  const login = proxy?.password !== undefined
  const settings: DownloadSettings = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'DownloadSettings',
    ...(proxy === undefined
      ? {}
      : { proxy: { http: proxy.http, https: proxy.https, no: [...listHostBypass(context)], login } }),
    ...(proxy?.ca === undefined ? {} : { ca: attachments.get(proxy.ca) ?? '' }),
    servers:
      mirror?.ca === undefined
        ? []
        : [{ host: new URL(mirror.mirror).host, ca: attachments.get(mirror.ca) ?? '' }],
  }
  const options = { owner, restart: false }
  return [
    planTextFile(at(downloadSettingsFile), `${JSON.stringify(settings, undefined, 2)}\n`, options),
    ...(login ? [planSecretFile(at(proxyLoginFile), proxyLoginFile, identity, options)] : []),
  ]
}
