import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'

/** A real S3 server on the loopback address. */
export interface S3Server extends AsyncDisposable {
  readonly endpoint: string
  readonly region: string
  /** The only bucket of the server. */
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

export async function startS3Server(): Promise<S3Server> {
  const [built] = await buildComponents(selectParts(['versitygw']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  const directory = await mkdtemp(join(tmpdir(), 's3-'))
  const [bucket, region] = ['backups', 'eu-central-1']
  const [objects, metadata] = [join(directory, 'objects'), join(directory, 'metadata')]
  await mkdir(join(objects, bucket), { recursive: true })
  await mkdir(metadata)
  const [accessKey, secretKey] = [randomBytes(10).toString('hex'), randomBytes(20).toString('hex')]
  const address = `127.0.0.1:${await findFreePort()}`
  const child = spawn(
    join(built?.directory ?? '', 'versitygw'),
    ['--port', address, '--region', region, '--quiet', 'posix', '--sidecar', metadata, objects],
    {
      env: { ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey },
      stdio: 'ignore',
    },
  )
  const ended = once(child, 'close')
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  const endpoint = `http://${address}`
  try {
    await pollUntil('the server of buckets to answer', async () => (await fetch(endpoint)).status === 403, {
      timeoutMs: 20_000,
    })
  } catch (error) {
    await close()
    throw error
  }
  return { endpoint, region, bucket, accessKey, secretKey, [Symbol.asyncDispose]: close }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('a server has a port')
  return address.port
}
