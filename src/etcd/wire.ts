import { z } from 'zod'
import { type Alarm, hexId, type KeyCount, type MemberList, type MemberStatus } from './member.ts'

/** A 64-bit number, which etcd sends as a string. etcd omits values that are zero, empty or false. */
const digits = z.string().regex(/^\d{1,20}$/)
const id = digits.default('0').transform(hexId)
const number = digits.default('0').transform(Number)
const strings = z.array(z.string()).default([])
const header = z.looseObject({ cluster_id: id })

const member = z
  .looseObject({
    ID: id,
    name: z.string().default(''),
    peerURLs: strings,
    clientURLs: strings,
    isLearner: z.boolean().default(false),
  })
  .transform(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
    id: ID,
    name,
    peerUrls: peerURLs,
    clientUrls: clientURLs,
    learner: isLearner,
  }))

export const memberListResponse: z.ZodType<MemberList> = z
  .looseObject({ header, members: z.array(member).min(1) })
  .transform(({ header: { cluster_id: clusterId }, members }) => ({ clusterId, members }))

export const memberAddResponse = z.looseObject({ member })

export const statusResponse: z.ZodType<MemberStatus> = z
  .looseObject({
    header: z.looseObject({ member_id: id, cluster_id: id }),
    version: z.string(),
    leader: id,
    isLearner: z.boolean().default(false),
    raftIndex: number,
    raftAppliedIndex: number,
    raftTerm: number,
    dbSize: number,
    dbSizeInUse: number,
    dbSizeQuota: number,
    errors: strings,
  })
  .transform((response) => ({
    id: response.header.member_id,
    clusterId: response.header.cluster_id,
    version: response.version,
    leader: response.leader === '0' ? undefined : response.leader,
    learner: response.isLearner,
    raftIndex: response.raftIndex,
    raftAppliedIndex: response.raftAppliedIndex,
    raftTerm: response.raftTerm,
    size: response.dbSize,
    sizeInUse: response.dbSizeInUse,
    quota: response.dbSizeQuota === 0 ? undefined : response.dbSizeQuota,
    errors: response.errors,
  }))

export const alarmResponse: z.ZodType<readonly Alarm[]> = z
  .looseObject({
    alarms: z.array(z.looseObject({ memberID: id, alarm: z.enum(['NOSPACE', 'CORRUPT']) })).default([]),
  })
  .transform(({ alarms }) => alarms.map(({ memberID, alarm }) => ({ memberId: memberID, alarm })))

export const countResponse: z.ZodType<KeyCount> = z
  .looseObject({ header: z.looseObject({ revision: number }), count: number })
  .transform(({ header: { revision }, count }) => ({ revision, keys: count }))

/**
 * A line of a snapshot response: a chunk of the database with the number of bytes still to come, or an error
 * that ended the stream.
 */
export const snapshotLine = z.union([
  z.object({ result: z.looseObject({ blob: z.base64(), remaining_bytes: number }) }),
  z.object({ error: z.looseObject({ message: z.string() }) }),
])

/** An error response with gRPC code and message. */
export const errorResponse = z.looseObject({ code: z.int(), message: z.string() })

/** Base64 of a zero byte. A range from it to itself selects all keys. */
const zeroByte = 'AA=='

/**
 * Builds a range request that counts all keys in the data of the contacted member. If `revision` is
 * undefined, the newest revision is counted.
 */
export function buildCountRequest(revision?: number): object {
  return {
    key: zeroByte,
    range_end: zeroByte,
    count_only: true,
    serializable: true,
    ...(revision === undefined ? {} : { revision: String(revision) }),
  }
}
