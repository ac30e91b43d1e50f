// A Discord by others, driven over standard input and output, one JSON object a line.
//
// Takes the folder in which it is installed as its argument. Writes {"rest", "token", "channel", "user", "guild"} when it
// listens. Takes {"say": text}, {"slash": {"name", "options"}}, {"press": {"messageId", "customId"}} and {"messages": true}.
// Ends with its input.

import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

// It would listen on every address of the machine.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
  if (typeof given[0] === 'number' || /^\d+$/.test(given[0])) {
    if (typeof given[1] !== 'string') given.splice(1, 0, '127.0.0.1');
  } else if (given[0] && typeof given[0] === 'object' && 'port' in given[0] && !given[0].host) {
    given[0] = { ...given[0], host: '127.0.0.1' };
  }
  return listen.apply(this, given);
};

const say = (thing) => process.stdout.write(`${JSON.stringify(thing)}\n`);
const folder = path.resolve(process.argv[2]);
const entry = createRequire(path.join(folder, 'package.json')).resolve('discord-digital-twin');
const { DigitalDiscord } = await import(pathToFileURL(entry));
const discord = new DigitalDiscord({
  guild: { name: 'Test' },
  channels: [{ name: 'general', type: 0 }],
  users: [{ username: 'ann' }],
});
await discord.start();
const channel = (await discord.prisma.channel.findMany())[0].id;
const user = await discord.getFirstNonBotUserId();
say({ rest: discord.restUrl, token: discord.botToken, channel, user, guild: discord.guildId });

for await (const line of readline.createInterface({ input: process.stdin })) {
  const wanted = JSON.parse(line);
  try {
    if ('say' in wanted) {
      say({ message: await discord.channel(channel).user(user).sendMessage({ content: wanted.say }) });
    } else if ('slash' in wanted) {
      say({ interaction: await discord.channel(channel).user(user).runSlashCommand(wanted.slash) });
    } else if ('press' in wanted) {
      say({ interaction: await discord.channel(channel).user(user).clickButton(wanted.press) });
    } else {
      say({ messages: await discord.channel(channel).getMessages() });
    }
  } catch (error) {
    say({ error: String(error) });
  }
}
process.exit(0);
