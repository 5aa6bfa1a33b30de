import { z } from 'zod'
import { type Alarm, hexId, type KeyCount, type MemberList, type MemberStatus } from './member.ts'

/** etcd leaves out what is zero, empty or false. Numbers of 64 bits are text. */
const digits = z.string().regex(/^\d{1,20}$/)
const id = digits.default('0').transform(hexId)
const number = digits.default('0').transform(Number)
const texts = z.array(z.string()).default([])
const header = z.looseObject({ cluster_id: id })

const member = z
  .looseObject({
    ID: id,
    name: z.string().default(''),
    peerURLs: texts,
    clientURLs: texts,
    isLearner: z.boolean().default(false),
  })
  .transform(({ ID, name, peerURLs, clientURLs, isLearner }) => ({
    id: ID,
    name,
    peerUrls: peerURLs,
    clientUrls: clientURLs,
    learner: isLearner,
  }))

export const memberListAnswer: z.ZodType<MemberList> = z
  .looseObject({ header, members: z.array(member).min(1) })
  .transform(({ header: { cluster_id: clusterId }, members }) => ({ clusterId, members }))

export const memberAddAnswer = z.looseObject({ member })

export const statusAnswer: z.ZodType<MemberStatus> = z
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
    errors: texts,
  })
  .transform((answer) => ({
    id: answer.header.member_id,
    clusterId: answer.header.cluster_id,
    version: answer.version,
    leader: answer.leader === '0' ? undefined : answer.leader,
    learner: answer.isLearner,
    raftIndex: answer.raftIndex,
    raftAppliedIndex: answer.raftAppliedIndex,
    raftTerm: answer.raftTerm,
    size: answer.dbSize,
    sizeInUse: answer.dbSizeInUse,
    quota: answer.dbSizeQuota === 0 ? undefined : answer.dbSizeQuota,
    errors: answer.errors,
  }))

export const alarmAnswer: z.ZodType<readonly Alarm[]> = z
  .looseObject({
    alarms: z.array(z.looseObject({ memberID: id, alarm: z.enum(['NOSPACE', 'CORRUPT']) })).default([]),
  })
  .transform(({ alarms }) => alarms.map(({ memberID, alarm }) => ({ memberId: memberID, alarm })))

export const countAnswer: z.ZodType<KeyCount> = z
  .looseObject({ header: z.looseObject({ revision: number }), count: number })
  .transform(({ header: { revision }, count }) => ({ revision, keys: count }))

/** A piece of the database, and how many bytes of it are still to come; or what keeps the rest from coming. */
export const snapshotLine = z.union([
  z.object({ result: z.looseObject({ blob: z.base64(), remaining_bytes: number }) }),
  z.object({ error: z.looseObject({ message: z.string() }) }),
])

/** As it says no: a code of gRPC, and words. */
export const refusalAnswer = z.looseObject({ code: z.int(), message: z.string() })
