import type { SimulatedRequest, SimulatedResponse } from './serve-https.ts'

const header = { cluster_id: '3', member_id: '1' }

/** Returns the responses of a healthy etcd cluster whose members have these addresses. */
export function respondAsEtcd(addresses: readonly string[], { path }: SimulatedRequest): SimulatedResponse {
  switch (path) {
    case '/livez':
    case '/readyz':
      return { status: 200, body: 'ok\n' }
    case '/v3/maintenance/status':
      return { body: { header, version: '3.7.3', leader: '1', dbSize: '1' } }
    case '/v3/maintenance/alarm':
      return { body: { header } }
    case '/v3/cluster/member/list':
      return {
        body: {
          header,
          members: addresses.map((address, index) => ({
            ...{ ID: String(index + 1), name: `etcd-${index}` },
            ...{ peerURLs: [`https://${address}:2380`], clientURLs: [`https://${address}:2379`] },
          })),
        },
      }
    default:
      return { status: 404, body: 'not simulated' }
  }
}
