import { z } from 'zod'
import { decimalId, hexId } from '../member.ts'
import type { TestCa } from '../../kit/testing/test-ca.ts'
import {
  type ReceivedRequest,
  type TestResponse,
  type HttpsTestServer,
  startHttpsTestServer,
} from '../../kit/testing/https-test-server.ts'

export interface FakeMember {
  /** Id in hex. The name of the member is host-ID. */
  readonly id: string
  readonly learner?: boolean
  readonly unreachable?: boolean
  /**
   * True for a CORRUPT alarm of the member, `unknown` for one without a member. Every member is unready, as in etcd,
   * until the alarm ends.
   */
  readonly corrupt?: true | 'unknown'
  /** Version of etcd; default 3.7.3. */
  readonly version?: string
  /** Content of the member's database snapshot. */
  readonly database?: Buffer
}

export interface FakeEtcd {
  readonly servers: readonly HttpsTestServer[]
  /** All changes that were received, in order. */
  readonly changes: readonly string[]
  /** Returns the number of deletions that were received. */
  countDeletions(): number
  /** Makes a member unreachable. */
  stop(id: string): void
  /** Removes a member from the member list. */
  removeMember(id: string): void
}

const header = { cluster_id: '3', member_id: '0' }
const noLeader: TestResponse = { status: 503, json: { code: 14, message: 'etcdserver: no leader' } }
const learnerUnsupported: TestResponse = {
  status: 503,
  json: { code: 14, message: 'etcdserver: rpc not supported for learner' },
}
const alarmBody = z.looseObject({ action: z.string(), memberID: z.string().optional() })
const listBody = z.looseObject({ linearizable: z.boolean() })

/**
 * Starts a fake etcd cluster for tests, with one server per member. The first member is the leader. Changes
 * are recorded but not executed. Every 2,500 deletions all members save a raft snapshot.
 */
export async function fakeEtcd(
  ca: TestCa,
  stack: AsyncDisposableStack,
  ...given: readonly FakeMember[]
): Promise<FakeEtcd> {
  let members = [...given]
  const changes: string[] = []
  let deletions = 0
  const alarms = new Set(
    given.flatMap(({ id, corrupt }) => (corrupt === undefined ? [] : [corrupt === true ? id : '0'])),
  )
  const urls = new Map<string, string>()
  const list = (): TestResponse => ({
    json: { header, members: members.map((one) => entry(one, urls.get(one.id))) },
  })

  const respondToAlarm = ({ action, memberID }: z.infer<typeof alarmBody>): TestResponse => {
    if (action === 'DEACTIVATE') {
      changes.push(`disarm ${memberID}`)
      alarms.delete(hexId(memberID ?? '0'))
    }
    const active = [...alarms].map((id) => ({ memberID: decimalId(id), alarm: 'CORRUPT' }))
    return { json: { header, alarms: active } }
  }

  const respond = (me: FakeMember, { path, body }: ReceivedRequest): TestResponse => {
    const serves = hasQuorum(members) && me.learner !== true
    switch (path) {
      case '/livez':
        return { status: 200, text: 'ok\n' }
      case '/readyz':
        if (alarms.size > 0)
          return { status: 503, text: '[-]data_corruption failed: alarm activated: CORRUPT\n' }
        return serves
          ? { status: 200, text: 'ok\n' }
          : {
              status: 503,
              text: '[+]data_corruption ok\n[-]linearizable_read failed: etcdserver: no leader\n',
            }
      case '/v3/maintenance/status':
        return { json: status(me, members[0]?.id ?? '0') }
      case '/v3/maintenance/alarm':
        return respondToAlarm(alarmBody.parse(body))
      case '/v3/kv/range':
        return { json: { header: { ...header, revision: '7' }, count: '3' } }
      case '/metrics':
        return {
          status: 200,
          text: `etcd_snap_fsync_duration_seconds_count ${Math.floor(deletions / 2500)}\n`,
        }
      case '/v3/kv/deleterange':
        deletions++
        return { json: { header } }
      case '/v3/maintenance/snapshot':
        return { status: 200, text: pieces(me.database ?? Buffer.of()) }
      case '/v3/cluster/member/list':
        return serves || !listBody.parse(body).linearizable ? list() : noLeader
      default:
        if (me.learner === true) return learnerUnsupported
        changes.push(`${path.split('/').at(-1)} ${JSON.stringify(body)} at ${me.id}`)
        return path.endsWith('add') ? { json: added } : list()
    }
  }

  const servers: HttpsTestServer[] = []
  for (const { id } of given) {
    const server = await startHttpsTestServer(ca, (request) => {
      const me = members.find((member) => member.id === id)
      return me === undefined || me.unreachable === true ? { cut: 'before' } : respond(me, request)
    })
    servers.push(stack.use(server))
    urls.set(id, server.url)
  }
  return {
    servers,
    changes,
    countDeletions: () => deletions,
    stop: (id) =>
      void (members = members.map((member) =>
        member.id === id ? { ...member, unreachable: true } : member,
      )),
    removeMember: (id) => void (members = members.filter((member) => member.id !== id)),
  }
}

function hasQuorum(members: readonly FakeMember[]): boolean {
  const voters = members.filter(({ learner }) => learner !== true)
  return voters.filter(({ unreachable }) => unreachable !== true).length > voters.length / 2
}

function entry({ id, learner = false }: FakeMember, url: string | undefined): object {
  return {
    ID: decimalId(id),
    name: `host-${id}`,
    peerURLs: [`https://${id}:2380`],
    clientURLs: url === undefined ? [] : [url],
    isLearner: learner,
  }
}

function status({ id, database, learner = false, version = '3.7.3' }: FakeMember, leader: string): object {
  return {
    header: { ...header, member_id: decimalId(id) },
    version,
    leader: decimalId(leader),
    isLearner: learner,
    dbSize: String(database?.length ?? 0),
  }
}

/**
 * Formats a database as etcd streams it: one JSON document per line. remaining_bytes does not include the
 * digest at the end.
 */
function pieces(database: Buffer): string {
  const size = 1000
  let text = ''
  for (let at = 0; at < database.length; at += size) {
    const bytes = database.subarray(at, at + size)
    const remaining = Math.max(0, database.length - 32 - at - bytes.length)
    const result = { blob: bytes.toString('base64'), remaining_bytes: String(remaining) }
    text += `${JSON.stringify({ result })}\n`
  }
  return text
}

const added = { header, member: { ID: '255', peerURLs: ['https://new:2380'], isLearner: true } }
