import { dirname, join } from 'node:path'
import { registryApiHost, toUrlHost } from '../contract/image-reference.ts'
import { findSecret } from '../identity/secret-files.ts'
import { type Identity } from '../identity/identity.ts'
import type { RegistryServerLogin } from '../catalog/registry/registry.ts'
import { isCaText } from '../kit/ca-text.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { addProxyLogin, type HttpRoute } from '../kit/http-route.ts'
import type { Cluster } from '../spec/cluster.ts'
import { describeInvalidCa, listCaFiles, listProxyBypass } from '../spec/download-route.ts'
import { readMirror } from '../spec/download-sources.ts'
import type { ClusterFiles, WebClients, WorkspaceContext } from './context.ts'
import { openIdentity } from './load-identity.ts'

/** How the operator's machine reaches download sites and registries of a cluster. */
export interface ClusterWeb extends WebClients {
  readonly route: HttpRoute
  readonly logins: readonly RegistryServerLogin[]
}

export type ClusterWebContext = Pick<
  WorkspaceContext,
  'connect' | 'readFile' | 'exists' | 'privateFiles' | 'configDirectory'
>

/**
 * Opens the connections of a cluster with the proxy, the private CAs and the logins of cluster.yml. The
 * identity is opened only if cluster.yml names a password.
 */
export async function openClusterWeb(
  context: ClusterWebContext,
  files: ClusterFiles,
  cluster: Cluster,
): Promise<ClusterWeb> {
  const { proxy, registries } = cluster.spec
  const needsIdentity = [proxy, ...registries].some((one) => one?.password !== undefined)
  const identity = needsIdentity ? await openIdentity(context, files, cluster.metadata.name) : undefined
  const route = buildRoute(cluster, await readCaFiles(context, files.file, cluster), identity)
  return { ...context.connect(route), route, logins: listLogins(cluster, identity) }
}

async function readCaFiles(
  { readFile }: Pick<ClusterWebContext, 'readFile'>,
  clusterFile: string,
  cluster: Cluster,
): Promise<ReadonlyMap<string, string>> {
  const files = new Set(listCaFiles(cluster).map(({ file }) => file))
  const read = [...files].map(async (file) => {
    const text = await readFile(join(dirname(clusterFile), file)).catch((cause: unknown) => {
      throw new HyperkubeError('CA_FILE_INVALID', `cannot read the CA file ${file}`, {
        hint: `put ${file} into the directory of cluster.yml`,
        cause,
      })
    })
    const { message, hint } = describeInvalidCa(file)
    if (!isCaText(text)) throw new HyperkubeError('CA_FILE_INVALID', message, { hint })
    return [file, text] as const
  })
  return new Map(await Promise.all(read))
}

function buildRoute(
  cluster: Cluster,
  caTexts: ReadonlyMap<string, string>,
  identity: Identity | undefined,
): HttpRoute {
  const { proxy, registries, artifacts, hosts } = cluster.spec
  const readCa = (file: string | undefined) => (file === undefined ? undefined : caTexts.get(file))
  const mirror = readMirror(artifacts)
  const addresses = hosts.flatMap(({ name, address, internalAddress, internalAddressIPv6 }) =>
    [address, internalAddress, internalAddressIPv6, name].filter((one) => one !== undefined),
  )
  return {
    proxy: proxy && {
      ...addLogin(proxy, identity),
      no: listProxyBypass(cluster, addresses),
    },
    ca: readCa(proxy?.ca),
    servers: [
      ...registries.map(({ host, ca, skipVerify }) => ({
        host: toUrlHost(registryApiHost(host)),
        ca: readCa(ca),
        skipVerify,
      })),
      ...(mirror === undefined ? [] : [{ host: new URL(mirror.mirror).host, ca: readCa(mirror.ca) }]),
    ],
  }
}

/** Returns the addresses of the proxy with its login. */
function addLogin(
  { http, https, username, password }: NonNullable<Cluster['spec']['proxy']>,
  identity: Identity | undefined,
): Pick<NonNullable<HttpRoute['proxy']>, 'http' | 'https'> {
  if (username === undefined || password === undefined || identity === undefined) return { http, https }
  const login = { username, password: requireSecret(identity, password.secret, 'the proxy') }
  const withLogin = (url: string | undefined) => (url === undefined ? undefined : addProxyLogin(url, login))
  return { http: withLogin(http), https: withLogin(https) }
}

function listLogins({ spec }: Cluster, identity: Identity | undefined): readonly RegistryServerLogin[] {
  return spec.registries.flatMap(({ host, username, password }) => {
    if (username === undefined || password === undefined || identity === undefined) return []
    const { secret } = password
    const server = toUrlHost(registryApiHost(host))
    return [{ host: server, username, secret, password: requireSecret(identity, secret, host) }]
  })
}

function requireSecret(identity: Identity, name: string, user: string): string {
  const secret = findSecret(identity, name)
  if (secret !== undefined) return secret.revealText()
  throw new HyperkubeError(
    'PLAN_SECRET_MISSING',
    `cluster.identity has no secret ${name}, the password for ${user}`,
    {
      hint: `hyperkube secret set ${name}`,
    },
  )
}
