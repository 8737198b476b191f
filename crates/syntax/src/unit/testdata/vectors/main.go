// Command vectors writes what the real implementations say about generated texts, as test data for the unit module.
//
//	cd crates/syntax/src/unit/testdata/vectors && go run . -n 300
//
// A line is tab-separated: the text, `ok` or `err`, then what was read. The same seed gives the same files.
package main

import (
	"bufio"
	_ "crypto/sha256" // a digest is accepted only when its algorithm is linked in
	_ "crypto/sha512"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/distribution/reference"
	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

const command = "# made by: cd crates/syntax/src/unit/testdata/vectors && go run . -n %d\n# judge: %s\n# columns: %s\n"

var random = rand.New(rand.NewSource(20240229))

func pick(choices ...string) string { return choices[random.Intn(len(choices))] }

func digits(most int) string {
	text := make([]byte, 1+random.Intn(most))
	for i := range text {
		text[i] = pick("0", "0", "1", "2", "5", "4", "8", "9", "6", "3", "7")[0]
	}
	return string(text)
}

func mutate(text, alphabet string) string {
	if len(text) == 0 || random.Intn(4) > 0 {
		return text
	}
	at := random.Intn(len(text))
	letter := string(alphabet[random.Intn(len(alphabet))])
	return text[:at] + pick("", letter, letter+text[at:at+1]) + text[at+1:]
}

func distinct(n int, known []string, next func() string) []string {
	set := map[string]bool{}
	for _, text := range known {
		set[text] = true
	}
	for len(set) < n+len(known) {
		text := next()
		if !strings.ContainsAny(text, "\t\n\r#") {
			set[text] = true
		}
	}
	texts := make([]string, 0, len(set))
	for text := range set {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	return texts
}

func write(name string, n int, judge, columns string, lines []string) {
	file, err := os.Create("../" + name)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	defer out.Flush()
	fmt.Fprintf(out, command, n, judge, columns)
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

func quantities(n int) {
	known := strings.Fields(`0 0Mi 00 0.0 0e9 1 +1 -1 -0 . + Mi .5 5. 0.5 .5Gi 1.5 1.500 1.5Gi 1024Mi 1000m 100m 1n 0.1n 1e3 1E3 1E 1e 1E+3 1e-3
		1e-10 1000E 9E 10E 9223372036854775807 9223372036854775808 9223372036854775807m 7Ei 8Ei 8191Pi 0.5Ki 0.9765625Ki 1023 1024 1023.5Ki 0.3Gi 1Ki 1k 1K 1KB
		1GB 1GiB 1gi 1.1.1 1,5 1_000 1e2.5 1e+ 1ee3 1Em 1e3Mi 12e6 1100e0 5e0 0005 100000000000000000000000000000000e-30 1e-9 1e-8 1e18 1e19 1e20
		1e99999999999 0.0009765625Ki 0.000000000931322574615478515625Gi 123456789.123456789 123456789.1234567891 1u 1500u 0.001u`)
	lines := []string{}
	for _, text := range distinct(n, known, func() string {
		number := pick(digits(4), digits(9), digits(20), digits(4)+"."+digits(4), digits(3)+"."+digits(10), "."+digits(3), digits(3)+".")
		exponent := pick("e", "E") + pick("", "+", "-") + digits(1+random.Intn(2))
		suffix := pick("", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", exponent, exponent)
		return mutate(pick("", "", "", "", "+", "-")+number+suffix, "0123456789.eEinumkKMGTP+-B")
	}) {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			lines = append(lines, text+"\terr")
			continue
		}
		number, suffix := quantity.CanonicalizeBytes(nil)
		lines = append(lines, text+"\tok\t"+string(number)+string(suffix))
	}
	write("quantity.tsv", n, "k8s.io/apimachinery resource.ParseQuantity, CanonicalizeBytes", "text, verdict, canonical", lines)
}

func crons(n int) {
	known := strings.Split("0 3 * * 1|0 3 * * MON|*/15 * * * *|5/15 * * * *|0-30/10 * * * *|0 0 ? * ?|0 0 1,15 jan,JUL *|60 * * * *|* 24 * * *|* * 0 * *"+
		"|* * 32 * *|* * * 13 *|* * * * 7|0 0 L * *|* * * *|* * * * * *|30-10 * * * *|*/0 * * * *|*/90 * * * *|1-2-3 * * * *|1/2/3 * * * *|, * * * *"+
		"|1,,2 * * * *|*-5 * * * *|+5 * * * *|@daily|@midnight|@hourly|@weekly|@monthly|@yearly|@annually|@reboot|@Daily|@every 1h30m|@every 1d|@every 5"+
		"|@every|0 0 31 2 *|0 0 30,31 2 *|0 0 31 4,6,9,11 *|0 0 29 2 *|0 0 31 2 1|  0   3 * * *  |00 03 * * *|0 0 * feb-apr fri-sat|TZ=UTC 0 3 * * *", "|")
	names := []string{"jan", "Dec", "FEB", "mon", "SUN", "Sat"}
	lines := []string{}
	for _, text := range distinct(n, known, func() string {
		most := []int{60, 24, 32, 13, 7}
		fields := []string{}
		for i := 0; i < 5; i++ {
			items := []string{}
			for range 1 + random.Intn(2)*random.Intn(3) {
				number := func() string { return fmt.Sprint(random.Intn(most[i])) }
				low, high := random.Intn(most[i]), random.Intn(most[i])
				between := fmt.Sprintf("%d-%d", min(low, high), max(low, high))
				item := pick("*", "*", "*", "?", number(), number(), between, between, between)
				if random.Intn(12) == 0 {
					item = pick(append(names, "*-"+number(), number()+"-"+number(), ",")...)
				}
				items = append(items, item+pick("", "", "", "/"+fmt.Sprint(random.Intn(8))))
			}
			fields = append(fields, strings.Join(items, ","))
		}
		return mutate(strings.Join(fields, " "), "012345*/,-?LW ")
	}) {
		schedule, err := cron.ParseStandard(text)
		if err != nil {
			lines = append(lines, text+"\terr")
			continue
		}
		spec, isSpec := schedule.(*cron.SpecSchedule)
		if !isSpec {
			lines = append(lines, text+"\tok\tevery")
			continue
		}
		const values = ^uint64(0) >> 1
		lines = append(lines, fmt.Sprintf("%s\tok\t%x %x %x %x %x", text, spec.Minute&values, spec.Hour&values, spec.Dom&values, spec.Month&values, spec.Dow&values))
	}
	write("cron.tsv", n, "github.com/robfig/cron/v3 ParseStandard", "text, verdict, hexadecimal bit sets of minute, hour, day, month, weekday", lines)
}

func images(n int) {
	hex := strings.Repeat("0123456789abcdef", 16)
	sha := "@sha256:" + hex[:64]
	known := strings.Fields("ubuntu ubuntu:24.04 library/ubuntu docker.io/library/ubuntu localhost/a localhost:5000/a/b:c host:5000 h:5000/a h:x/a [::1]:5000/a" +
		" Ubuntu MyOrg/app ghcr.io/MyOrg/app GHCR.io/org/app a:TAG a:-x a: a@ a/ /a a//b a__b a___b a..b a.-b a--b a-/b https://ghcr.io/a/b a:b:c a@b@c a" + sha +
		" a:b" + sha + " a@sha256:abc a@sha256:" + strings.ToUpper(hex[:64]) + " a@sha512:" + hex[:128] + " a@md5:" + hex[:32] + " a@sha384:" + hex[:96] + " " + hex[:64] +
		" a:" + hex[:128] + " a:" + hex[:129] + " " + strings.Repeat("a", 255) + " " + strings.Repeat("a", 256) + " x.io/" + strings.Repeat("a", 255) + " x.io/" + strings.Repeat("a", 256))
	word := func() string { return pick("a", "ab", "app", "a1", "my-app", "my_app", "x.y", "a__b", "a--b", "0") }
	lines := []string{}
	for _, text := range distinct(n, known, func() string {
		host := pick("", "", "", "ghcr.io/", "quay.io/", "localhost/", "localhost:5000/", "10.0.0.1:80/", "reg:443/", "A.b-c.io/", "-a.io/", "a..io/", "[fe80::1]/", "org/")
		path := word() + pick("", "", "/"+word(), "/"+word()+"/"+word())
		tag := pick("", "", ":1.0", ":latest", ":v1_2-rc.3", ":V1", ":_x", ":"+digits(5))
		return mutate(host+path+tag+pick("", "", "", sha, "@sha256:"+hex[:63], "@sha512:"+hex[:64], "@sha-x:"+hex[:64]), "abAB019._-:/@ +[]")
	}) {
		named, err := reference.ParseNormalizedNamed(text)
		if err != nil {
			lines = append(lines, text+"\terr")
			continue
		}
		tag, digest := "", ""
		if tagged, ok := named.(reference.Tagged); ok {
			tag = tagged.Tag()
		}
		if digested, ok := named.(reference.Digested); ok {
			digest = digested.Digest().String()
		}
		lines = append(lines, strings.Join([]string{text, "ok", reference.Domain(named), reference.Path(named), tag, digest}, "\t"))
	}
	write("image.tsv", n, "github.com/distribution/reference ParseNormalizedNamed", "text, verdict, registry, repository, tag, digest (Docker Hub filled in)", lines)
}

func names(n int) {
	judges := []func(string) []string{validation.IsDNS1035Label, validation.IsDNS1123Label, validation.IsDNS1123Subdomain, validation.IsQualifiedName,
		validation.IsValidLabelValue, validation.IsEnvVarName, validation.IsConfigMapKey}
	known := []string{"", ".", "..", "..a", ".a", "a.", "a", "A", "1", "-", "_", "a/b", "a/b/c", "/b", "a/", "a.b/c", "A.b/c", "é", "a b", "a=b", "resnet-50", "Resnet_50",
		"50-resnet", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254), "x.io/" + strings.Repeat("a", 63),
		"x.io/" + strings.Repeat("a", 64), strings.Repeat("a", 253) + "/a", strings.Repeat("a", 254) + "/a", "a..b", "a.-b", "a-.b", "nvidia.com/gpu"}
	lines := []string{}
	for _, text := range distinct(n, known, func() string {
		text := ""
		for range 1 + random.Intn(6) {
			text += pick("a", "b", "z9", "0", "1", "-", ".", "_", "/", "B", "Q", "ab", "xyz", "é", " ", "=")
		}
		return text
	}) {
		line := text + "\t"
		for _, judge := range judges {
			if len(judge(text)) == 0 {
				line += "y"
			} else {
				line += "n"
			}
		}
		lines = append(lines, line)
	}
	write("name.tsv", n, "k8s.io/apimachinery util/validation", "text, y or n each for DNS1035Label DNS1123Label DNS1123Subdomain QualifiedName LabelValue EnvVarName ConfigMapKey", lines)
}

// starts asks the scheduler when it starts next, around changes of clocks. Not in zones that change their clocks at midnight (Beirut,
// Santiago, Cairo) or by half an hour (Lord Howe): there it misses other starts of the day too.
func starts() {
	zones := []string{"Etc/UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Antarctica/Troll", "Asia/Kolkata",
		"Pacific/Chatham", "Europe/London"}
	texts := []string{"30 2 * * *", "0 0 * * *", "15 1,2,3 * * *", "0 */2 * * *", "*/20 * * * *", "0 3 * * MON", "0 3 13 * FRI", "0 3 */2 * 1",
		"0 0 29 2 *", "59 23 31 12 *", "@daily", "@weekly", "@monthly", "@yearly", "@hourly", "30 2 * 3,4,10,11 SUN"}
	after := []string{"2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z", "2026-11-01T03:00:00Z", "2027-03-13T12:00:00Z", "2027-04-02T20:00:00Z",
		"2026-02-28T23:30:00Z"}
	lines := []string{}
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		for _, text := range texts {
			schedule, err := cron.ParseStandard(text)
			if err != nil {
				panic(err)
			}
			for _, moment := range after {
				next, err := time.Parse(time.RFC3339, moment)
				if err != nil {
					panic(err)
				}
				line := strings.Join([]string{text, name, moment}, "\t")
				for range 4 {
					next = schedule.Next(next.In(zone))
					line += "\t" + next.UTC().Format(time.RFC3339)
				}
				lines = append(lines, line)
			}
		}
	}
	write("starts.tsv", 0, "github.com/robfig/cron/v3 Schedule.Next, with the time zone database of Go", "text, zone, moment, the next starts", lines)
}

func main() {
	n := flag.Int("n", 300, "generated texts in each file, beside the hand-picked ones")
	flag.Parse()
	quantities(*n)
	crons(*n)
	starts()
	images(*n)
	names(*n)
}
