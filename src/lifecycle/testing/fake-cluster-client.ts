import type { KubeClient } from '../../kube/client.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'

const succeed = async (): Promise<undefined> => undefined
const refuse = async (): Promise<never> => Promise.reject(new Error('the fake client has no cluster'))

const defaults: Omit<ClusterClient, 'api'> = {
  members: async () => [],
  unconfirmedMembers: async () => [],
  etcdIds: async () => new Map(),
  observeEtcd: refuse,
  listNodes: refuse,
  checkAddons: async () => [],
  listIngresses: async () => ({ ingresses: [], classes: [] }),
  readApiState: succeed,
  drainFindings: async () => [],
  findUpgradeProblems: async () => [],
  etcdHealthy: succeed,
  isVoter: succeed,
  apiReady: succeed,
  controllersReady: succeed,
  nodesReady: succeed,
  joinEtcd: async () => [],
  promote: succeed,
  removeEtcdMember: succeed,
  prepareEtcdUpgrade: succeed,
  releaseEtcdLeadership: succeed,
  drain: succeed,
  uncordon: succeed,
  removeNode: succeed,
  applyObjects: succeed,
  syncNodeLabels: succeed,
  smokeTestPods: { create: succeed, list: async () => new Map(), remove: succeed },
  applyAddonNoWait: succeed,
  applyAddon: async () => ({ removed: [], findings: [] }),
  removeAddon: async () => ({ removed: [], findings: [] }),
  [Symbol.dispose]: () => undefined,
}

/** For tests: a client of an empty cluster in which all components are ready and all changes succeed. */
export function createFakeClusterClient(overrides: Partial<Omit<ClusterClient, 'api'>> = {}): ClusterClient {
  return {
    ...defaults,
    ...overrides,
    get api(): KubeClient {
      throw new Error('the fake client has no API')
    },
  }
}
