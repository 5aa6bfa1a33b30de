import type { PlannedFile } from '../../contract/component-plan.ts'
import {
  type DownloadSettings,
  downloadSettingsFile,
  downloadSettingsFormat,
  proxyLogin,
  type ProxyLogin,
  proxyLoginFile,
} from '../../contract/download-settings.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { addProxyLogin, type HttpRoute } from '../../kit/http-route.ts'
import type { Secret } from '../../pki/secret.ts'
import { basename } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'

interface RouteDeps {
  readonly host: Host
  readonly plan: NodePlan
  /** Secrets of the run. Healing has none and uses the file on the host. */
  readonly secrets: ReadonlyMap<string, Secret>
}

/**
 * Finds proxy and private CAs for downloads. They come from the plan and not from the files on the host,
 * because all files are downloaded before the first file is written.
 */
export async function resolveDownloadRoute({ host, plan, secrets }: RouteDeps): Promise<HttpRoute> {
  const files = plan.components.find(({ name }) => name === 'hyperkube-agent')?.files ?? []
  const find = (name: string): PlannedFile | undefined => files.find(({ path }) => basename(path) === name)
  const content = find(downloadSettingsFile)?.content
  if (content?.kind !== 'text') return {}
  const { proxy, ca, servers }: DownloadSettings = readVersioned(
    downloadSettingsFormat,
    JSON.parse(content.text),
  )
  if (proxy === undefined) return { ca, servers }
  const login = proxy.login
    ? await readProxyLogin(host, find(proxyLoginFile), secrets.get(proxyLoginFile))
    : undefined
  const withLogin = (url: string | undefined) =>
    url === undefined || login === undefined ? url : addProxyLogin(url, login)
  return { proxy: { http: withLogin(proxy.http), https: withLogin(proxy.https), no: proxy.no }, ca, servers }
}

async function readProxyLogin(
  { files }: Host,
  file: PlannedFile | undefined,
  secret: Secret | undefined,
): Promise<ProxyLogin> {
  const text =
    secret?.revealText() ?? (file === undefined ? undefined : (await files.read(file.path))?.toString('utf8'))
  if (text !== undefined) return proxyLogin.parse(JSON.parse(text))
  throw new HyperkubeError('APPLY_NO_SECRET', 'the login of the proxy is missing on this host', {
    hint: 'hyperkube up',
  })
}
