import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A name outside the cluster, and the address that it has there. */
export const outside = { name: 'shop.outside.example', address: '192.0.2.7' }

/** Answers every question for an address with the same one: a name server as hosts have one outside the lab. */
export async function serveOutsideNames(address: string): Promise<AsyncDisposable> {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address: from }) => {
    socket.send(answerTo(question), port, from)
  })
  socket.bind(53, address)
  await once(socket, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** An A record for what was asked; other types have no record. */
function answerTo(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isAddress = question.readUInt16BE(end - 4) === 1
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x81_80, 2)
  header.writeUInt16BE(isAddress ? 1 : 0, 6)
  // The rest is what an answer leaves out: authorities, and what a question adds.
  header.writeUInt32BE(0, 8)
  const record = Buffer.from([
    0xc0,
    12,
    0,
    1,
    0,
    1,
    0,
    0,
    0,
    30,
    0,
    4,
    ...outside.address.split('.').map(Number),
  ])
  return Buffer.concat([header, question.subarray(12, end), ...(isAddress ? [record] : [])])
}
