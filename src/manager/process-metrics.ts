import type { Metrics } from '../kit/metrics.ts'

/** What the process costs, under the names that every exporter has. */
export function processMetrics(metrics: Metrics): void {
  metrics.gauges('process_resident_memory_bytes', 'Memory of the process.', () => [
    [{}, process.memoryUsage.rss()],
  ])
  const cpu = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  metrics.gauges(
    'process_cpu_seconds_total',
    'Time of processors that it took.',
    () => [[{}, cpu()]],
    'counter',
  )
  metrics.gauges('process_start_time_seconds', 'When it began.', () => [
    [{}, Math.round(Date.now() / 1000 - process.uptime())],
  ])
}
