/**
 * Runs `flagstaff plan` on the files of its arguments and writes what it says to the log, to the summary of the job and to one comment of
 * the pull request, which later runs change. Ends as the plan does: with 2 where somebody else changed what the files would change.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const { PRUNE, GITHUB_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_STEP_SUMMARY, PULL_REQUEST } =
  process.env;
const files = process.argv.slice(2);

/** Characters; GitHub refuses comments of more than 65,536. */
const PLAN_LENGTH_MAX = 50_000;
/** Comments that are looked through for the one of an earlier run; it is among the first of most pull requests. */
const PAGES_MAX = 10;
const PAGE_LENGTH = 100;

/** Tells the comment from those of other files. */
const MARK = `<!-- flagstaff plan ${files.join(' ').replaceAll('-->', '')} -->`;

const HEADLINES = {
  0: 'What these files would change',
  2: 'Somebody else changed what these files would change',
};

function plan() {
  const args = ['plan', ...(PRUNE === 'true' ? ['--prune'] : []), '--', ...files];
  const { status, stdout, stderr, error } = spawnSync('flagstaff', args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined) throw error;
  return { code: status ?? 1, text: `${stdout}${stderr}`.trimEnd() };
}

/** Text of users in it is neither markup nor a mention of anybody. */
function commentOf({ code, text }) {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const shown =
    escaped.length <= PLAN_LENGTH_MAX
      ? escaped
      : `${escaped.slice(0, PLAN_LENGTH_MAX)}\n… and more, which the log has.`;
  return `${MARK}\n### ${HEADLINES[code] ?? 'These files cannot be planned'}\n<pre>\n${shown}\n</pre>\n`;
}

async function github(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${GITHUB_TOKEN}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`GitHub answered ${method} ${path} with ${response.status}`);
  return response.json();
}

async function earlierComment() {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const comments = await github('GET', `${PULL_REQUEST}/comments?per_page=${PAGE_LENGTH}&page=${page}`);
    const found = comments.find(({ body }) => body?.startsWith(MARK));
    if (found !== undefined || comments.length < PAGE_LENGTH) return found;
  }
  return undefined;
}

const planned = plan();
console.log(planned.text);
const body = commentOf(planned);
if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, body);
if (PULL_REQUEST) {
  try {
    const earlier = await earlierComment();
    if (earlier === undefined) await github('POST', `${PULL_REQUEST}/comments`, { body });
    else await github('PATCH', `comments/${earlier.id}`, { body });
  } catch (error) {
    // The plan counts; a fork, say, gets a token that may not write.
    console.log(`::warning::The plan is no comment of the pull request: ${error.message}`);
  }
}
process.exitCode = planned.code;
